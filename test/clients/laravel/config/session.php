<?php

return [
    'driver' => 'file',
    'files' => storage_path('framework/sessions'),
    'lifetime' => 120,
    'expire_on_close' => false,
    'lottery' => [0, 1],
    'cookie' => 'laravel_session',
    'path' => '/',
    'domain' => null,
    'secure' => false,
    'http_only' => true,
    'same_site' => 'lax',
];
