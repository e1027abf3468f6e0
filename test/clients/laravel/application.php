<?php

/**
 * A Laravel application around the files of examples/tutorial/laravel, as `laravel new` makes one: the middleware of
 * web routes, sessions in files, and an encrypted cookie. For `php -S`, with PHP's packages on its include path.
 *
 * APPLICATION is a folder for the application, which has the files of the example.
 */

use App\Http\Controllers\ChatController;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Contracts\Http\Kernel as KernelContract;
use Illuminate\Foundation\Application;
use Illuminate\Foundation\Exceptions\Handler;
use Illuminate\Foundation\Http\Kernel;
use Illuminate\Foundation\Support\Providers\RouteServiceProvider;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Facade;
use Illuminate\Support\Facades\Route;

$folder = getenv('APPLICATION');
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if ($path !== '/' && is_file($folder.'/public'.$path)) {
    return false;
}

// Laravel 8 is older than PHP 8.2, which warns of what it will not have any more.
error_reporting(E_ALL & ~E_DEPRECATED);
require_once 'Illuminate/autoload.php';
require_once 'GuzzleHttp/autoload.php';
require_once $folder.'/app/Http/Controllers/ChatController.php';

class WebKernel extends Kernel
{
    protected $middlewareGroups = [
        'web' => [
            Illuminate\Cookie\Middleware\EncryptCookies::class,
            Illuminate\Cookie\Middleware\AddQueuedCookiesToResponse::class,
            Illuminate\Session\Middleware\StartSession::class,
            Illuminate\Foundation\Http\Middleware\VerifyCsrfToken::class,
            Illuminate\Routing\Middleware\SubstituteBindings::class,
        ],
    ];
}

class WebRoutes extends RouteServiceProvider
{
    public function boot()
    {
        $this->routes(fn () => Route::middleware('web')->group(base_path('routes/web.php')));
    }
}

$app = new Application($folder);
$app->singleton(KernelContract::class, WebKernel::class);
$app->singleton(ExceptionHandler::class, Handler::class);
$kernel = $app->make(KernelContract::class);
$request = Request::capture();
$response = $kernel->handle($request);
$response->send();
$kernel->terminate($request, $response);
