<?php

use App\Http\Controllers\ChatController;
use Illuminate\Support\Facades\Route;

Route::get('/', fn () => response()->file(public_path('index.html')));
Route::post('/login', [ChatController::class, 'login']);
Route::get('/token', [ChatController::class, 'connectionToken']);
Route::get('/token/{room}', [ChatController::class, 'roomToken']);
Route::post('/notices/{room}', [ChatController::class, 'notice']);
