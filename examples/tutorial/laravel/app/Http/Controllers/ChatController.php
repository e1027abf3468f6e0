<?php

namespace App\Http\Controllers;

use Illuminate\Http\Request;
use Illuminate\Support\Facades\Http;

class ChatController
{
    /** The members of each room, and the moderators: an application has them in its database. */
    private const MEMBERS = ['lobby' => ['ada', 'bob'], 'staff' => ['ada']];
    private const MODERATORS = ['ada'];

    /** Put your own log-in here: this one believes everybody's name. */
    public function login(Request $request)
    {
        $name = $request->input('name');
        abort_unless(is_string($name) && preg_match('/^[a-z]{1,20}$/D', $name), 400);
        $request->session()->regenerate();
        $request->session()->put('user', $name);
        return response()->noContent();
    }

    /** The connection token says who the user is. A moderator's lets its client change what others have written. */
    public function connectionToken()
    {
        $user = $this->user();
        $moderator = in_array($user, self::MODERATORS, true);
        $claims = ['sub' => $user, 'info' => ['name' => $user]];
        if ($moderator) {
            $claims['caps'] = [['channels' => ['$room:*'], 'match' => 'wildcard', 'allow' => ['chg']]];
        }
        return ['token' => $this->sign($claims), 'user' => $user, 'moderator' => $moderator];
    }

    /** The subscription token says that the user may enter the room. */
    public function roomToken(string $room)
    {
        $user = $this->memberOf($room);
        return ['token' => $this->sign(['sub' => $user, 'channel' => '$room:'.$room])];
    }

    /** Users write by their own connections. What the application itself says is published by the backend. */
    public function notice(Request $request, string $room)
    {
        abort_unless(in_array($this->user(), self::MODERATORS, true), 403);
        $text = $request->input('text');
        abort_unless(is_string($text) && mb_strlen($text) <= 1000, 400);
        $answer = Http::withHeaders(['X-API-Key' => config('dormouse.api_key')])->post(
            config('dormouse.address').'/api/publish',
            ['channel' => '$room:'.$room, 'data' => ['text' => $text]],
        );
        abort_if($answer->failed() || $answer->json('error') !== null, 502);
        return response()->noContent();
    }

    private function user(): string
    {
        return session('user') ?? abort(403);
    }

    private function memberOf(string $room): string
    {
        $user = $this->user();
        abort_unless(in_array($user, self::MEMBERS[$room] ?? [], true), 403);
        return $user;
    }

    /** Signs claims for an hour, as the packages for JWT do. */
    private function sign(array $claims): string
    {
        $part = fn (string $text) => rtrim(strtr(base64_encode($text), '+/', '-_'), '=');
        $claims['exp'] = time() + 3600;
        $signed = $part('{"alg":"HS256","typ":"JWT"}').'.'.$part(json_encode($claims));
        return $signed.'.'.$part(hash_hmac('sha256', $signed, config('dormouse.token_secret'), true));
    }
}
