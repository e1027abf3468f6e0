<?php

use PHPUnit\Framework\TestCase;

require_once __DIR__ . '/Dormouse.php';

/** Tests of an application that publishes orders. */
final class OrdersTest extends TestCase
{
    private static Dormouse $dormouse;

    public static function setUpBeforeClass(): void
    {
        self::$dormouse = new Dormouse();
    }

    public static function tearDownAfterClass(): void
    {
        self::$dormouse->stop();
    }

    protected function setUp(): void
    {
        self::$dormouse->call('reset');
    }

    public function testTheCustomerMissesNothingWhileWeDeploy(): void
    {
        $ann = self::$dormouse->call('client', ['user' => 'ann', 'subscribe' => 'orders:ann']);
        $this->publishOrder('ann', 1);
        self::$dormouse->call('cut', $ann);
        $this->publishOrder('ann', 2);
        self::$dormouse->call('deploy');
        $this->publishOrder('ann', 3);
        $received = self::$dormouse->call('received', $ann + ['channel' => 'orders:ann', 'count' => 3]);
        $this->assertSame([1, 2, 3], $received['data']);
    }

    public function testWhatIsWrongIsNamed(): void
    {
        $this->expectExceptionMessage('advance: the duration must be');
        self::$dormouse->call('advance', ['duration' => 'soon']);
    }

    /** Stands for the application: it publishes by the HTTP API. */
    private function publishOrder(string $user, int $number): void
    {
        $addresses = self::$dormouse->addresses;
        $order = ['channel' => "orders:$user", 'data' => $number];
        Dormouse::post("{$addresses['api']}/publish", $order, ["X-API-Key: {$addresses['api_key']}"]);
    }
}
