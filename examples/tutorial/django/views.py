import json
import re
import time
from pathlib import Path

import jwt
from cent import CentError, Client, PublishRequest
from django.conf import settings
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpResponse, JsonResponse
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST
from django.views.static import serve

# The members of each room, and the moderators: an application has them in its database.
MEMBERS = {"lobby": ["ada", "bob"], "staff": ["ada"]}
MODERATORS = ["ada"]
PAGE = Path(__file__).parent.parent / "page"

dormouse = Client(f"{settings.DORMOUSE}/api", settings.API_KEY)


@require_POST
def login(request):
    """Put your own log-in here: this one believes everybody's name."""
    name = field(request, "name")
    if not re.fullmatch("[a-z]{1,20}", name):
        raise BadRequest
    request.session["user"] = name
    return HttpResponse(status=204)


def connection_token(request):
    """The connection token says who the user is. A moderator's lets its client change what others have written."""
    user = user_of(request)
    moderator = user in MODERATORS
    claims = {"sub": user, "info": {"name": user}}
    if moderator:
        claims["caps"] = [{"channels": ["$room:*"], "match": "wildcard", "allow": ["chg"]}]
    return JsonResponse({"token": sign(**claims), "user": user, "moderator": moderator})


def room_token(request, room):
    """The subscription token says that the user may enter the room."""
    user = member_of(request, room)
    return JsonResponse({"token": sign(sub=user, channel=f"$room:{room}")})


@require_POST
def notice(request, room):
    """Users write by their own connections. What the application itself says is published by the backend."""
    if user_of(request) not in MODERATORS:
        raise PermissionDenied
    text = field(request, "text")
    if len(text) > 1000:
        raise BadRequest
    try:
        dormouse.publish(PublishRequest(channel=f"$room:{room}", data={"text": text}))
    except CentError:
        return HttpResponse(status=502)
    return HttpResponse(status=204)


@ensure_csrf_cookie
def page(request):
    return serve(request, "index.html", PAGE)


def page_file(request, name):
    return serve(request, name, PAGE)


def user_of(request):
    if "user" not in request.session:
        raise PermissionDenied
    return request.session["user"]


def member_of(request, room):
    user = user_of(request)
    if user not in MEMBERS.get(room, []):
        raise PermissionDenied
    return user


def field(request, name):
    """A text in the request's JSON."""
    try:
        value = json.loads(request.body)[name]
    except (ValueError, TypeError, KeyError):
        raise BadRequest
    if not isinstance(value, str):
        raise BadRequest
    return value


def sign(**claims):
    """Signs claims for an hour."""
    claims["exp"] = int(time.time()) + 3600
    return jwt.encode(claims, settings.TOKEN_HMAC_SECRET_KEY, algorithm="HS256")
