<?php

use Illuminate\Cookie\CookieServiceProvider;
use Illuminate\Encryption\EncryptionServiceProvider;
use Illuminate\Filesystem\FilesystemServiceProvider;
use Illuminate\Foundation\Providers\FoundationServiceProvider;
use Illuminate\Session\SessionServiceProvider;
use Illuminate\Translation\TranslationServiceProvider;
use Illuminate\View\ViewServiceProvider;

return [
    'env' => 'testing',
    'debug' => true,
    'timezone' => 'UTC',
    'locale' => 'en',
    'fallback_locale' => 'en',
    'key' => 'base64:'.base64_encode('the-encryption-key-of-this-test!'),
    'cipher' => 'AES-256-CBC',
    'providers' => [
        CookieServiceProvider::class,
        EncryptionServiceProvider::class,
        FilesystemServiceProvider::class,
        FoundationServiceProvider::class,
        SessionServiceProvider::class,
        TranslationServiceProvider::class,
        ViewServiceProvider::class,
        WebRoutes::class,
    ],
];
