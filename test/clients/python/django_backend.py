"""A Django application with users, sessions, and the views of django_hooks.py.

Options: `port`, `secret`, and `users`, an object: the groups of each user. It
serves until its standard input ends.
"""

import sys
import tempfile
import threading
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.http import HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from scenario import read_options, report

APPS = ["auth", "contenttypes", "sessions"]


def main(folder: str) -> None:
    """Creates the application, and serves it."""
    options = read_options()
    configure(Path(folder) / "database.sqlite", options["secret"])
    django.setup()
    call_command("migrate", run_syncdb=True, verbosity=0)
    create_users(options["users"])
    add_urls()

    from django.core.wsgi import get_wsgi_application

    address = ("127.0.0.1", options["port"])
    server = ThreadedWSGIServer(address, WSGIRequestHandler)
    server.set_app(get_wsgi_application())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    report("listening")
    sys.stdin.read()
    server.shutdown()


def configure(database: Path, secret: str) -> None:
    """What a settings.py has."""
    settings.configure(
        ALLOWED_HOSTS=["127.0.0.1"],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": database,
            }
        },
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        HOOK_SIGNING_SECRET=secret,
        INSTALLED_APPS=[f"django.contrib.{app}" for app in APPS],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        # The tables of a database that nobody had before need no history.
        MIGRATION_MODULES=dict.fromkeys(APPS),
        ROOT_URLCONF=__name__,
        SECRET_KEY="the-key-of-a-test",
    )


urlpatterns = []


def add_urls() -> None:
    """What a urls.py has. The views can be imported once Django is set up."""
    import django_hooks

    for name in ["connect", "subscribe", "publish", "rpc"]:
        view = getattr(django_hooks, name)
        urlpatterns.append(path(f"hooks/{name}", view))
    urlpatterns.append(path("login/<name>", log_in))


@csrf_exempt
def log_in(request, name):
    """Begins a session of the user, and believes everybody's name."""
    from django.contrib.auth import login
    from django.contrib.auth.models import User

    login(request, User.objects.get(username=name))
    return HttpResponse()


def create_users(users) -> None:
    """Creates the users and their groups."""
    from django.contrib.auth.models import Group, User

    for name, groups in users.items():
        user = User.objects.create_user(name)
        for group in groups:
            user.groups.add(Group.objects.get_or_create(name=group)[0])


with tempfile.TemporaryDirectory() as folder:
    main(folder)
