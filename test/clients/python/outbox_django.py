"""Writes in transactions of Django with the code of docs/outbox.md.

Options: `folder` of the modules `realtime` and `views`, which are that code,
and the `port` of PostgreSQL.
"""

import json
import sys

import django
from django.conf import settings
from django.core.management import call_command
from scenario import read_options, report


def main() -> None:
    """Commits one transaction, and rolls another one back."""
    options = read_options()
    settings.configure(
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.postgresql",
                "HOST": "127.0.0.1",
                "PORT": options["port"],
                "NAME": "postgres",
                "USER": "postgres",
                "PASSWORD": "secret",
            }
        },
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
        ],
    )
    django.setup()
    call_command("migrate", verbosity=0)
    sys.path.insert(0, options["folder"])

    from django.db import transaction
    from django.test import RequestFactory
    from views import create_group

    def create(name: str) -> bytes:
        request = RequestFactory().post("/groups", {"name": name})
        return create_group(request).content

    answer = json.loads(create("readers"))
    try:
        with transaction.atomic():
            create("nobody")
            raise RuntimeError("the view fails")
    except RuntimeError:
        report("committed", answer=answer)


main()
