"""The views of a Django application that answer the questions of Dormouse."""

from functools import wraps

from django.conf import settings
from django.contrib.auth.models import Group
from django.http import HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from standardwebhooks import Webhook, WebhookVerificationError


def hook(answer):
    """Makes a view of a function that answers a question."""

    @csrf_exempt  # The signature says who asks.
    @require_POST
    @wraps(answer)
    def view(request):
        webhook = Webhook(settings.HOOK_SIGNING_SECRET)
        try:
            question = webhook.verify(request.body, request.headers)
        except WebhookVerificationError:
            return HttpResponse(status=401)
        return JsonResponse(answer(request, question))

    return view


@hook
def connect(request, question):
    """A page connects. Its cookie came with the question, so Django knows the user."""
    user = request.user
    if not user.is_authenticated:
        return {"disconnect": {"code": 4501, "reason": "log in first"}}
    return {"result": {"user": str(user.pk), "info": {"name": user.username}}}


@hook
def subscribe(request, question):
    """A page enters a room. The members of a room are a group of users."""
    if not is_member(question):
        return {"error": {"code": 403, "message": "this room is private"}}
    return {}


@hook
def publish(request, question):
    """A page writes into a room, whether or not it has entered the room."""
    data = question.get("data")
    text = data.get("text") if isinstance(data, dict) else None
    if not is_member(question):
        return {"error": {"code": 403, "message": "this room is private"}}
    if not isinstance(text, str):
        return {"error": {"code": 400, "message": "write a text"}}
    return {"result": {"data": {"text": text.replace("drat", "****")}}}


@hook
def rpc(request, question):
    """A page calls a method."""
    if question["method"] != "rooms":
        return {"error": {"code": 404, "message": "there is no such method"}}
    rooms = Group.objects.filter(user=question["user"])
    return {"result": {"data": [room.name for room in rooms]}}


def is_member(question):
    """Whether the user is a member of the room, of which the channel is `room:NAME`."""
    _, room = question["channel"].split(":", 1)
    return Group.objects.filter(name=room, user=question["user"]).exists()
