<?php

return [
    'address' => env('DORMOUSE', 'http://localhost:8787'),
    'api_key' => env('API_KEY'),
    'token_secret' => env('TOKEN_HMAC_SECRET_KEY'),
];
