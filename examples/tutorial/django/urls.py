import views
from django.urls import path

urlpatterns = [
    path("login", views.login),
    path("token", views.connection_token),
    path("token/<room>", views.room_token),
    path("notices/<room>", views.notice),
    path("", views.page),
    path("<name>", views.page_file),
]
