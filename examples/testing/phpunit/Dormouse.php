<?php

/** The control of `dormouse test-server`. `$addresses` has what an application is told of the server. */
final class Dormouse
{
    public array $addresses;
    private $process;
    private array $pipes = [];

    public function __construct()
    {
        $command = ['npx', 'dormouse', 'test-server', '--config', 'config.json'];
        $this->process = proc_open($command, [['pipe', 'r'], ['pipe', 'w'], STDERR], $this->pipes);
        $this->addresses = json_decode(fgets($this->pipes[1]), true);
    }

    public function call(string $name, array $fields = []): array
    {
        $answer = self::post("{$this->addresses['control']}/$name", $fields, []);
        if (isset($answer['error'])) {
            throw new RuntimeException($answer['error']);
        }
        return $answer['result'];
    }

    public static function post(string $url, array $fields, array $headers): array
    {
        $options = [
            'method' => 'POST',
            'header' => ['Content-Type: application/json', ...$headers],
            'content' => json_encode((object) $fields),
            'ignore_errors' => true,
        ];
        $body = file_get_contents($url, false, stream_context_create(['http' => $options]));
        return json_decode($body, true);
    }

    /** The server ends with the pipe, also when the tests are killed. */
    public function stop(): void
    {
        array_map('fclose', $this->pipes);
        proc_close($this->process);
    }
}
