import os

DORMOUSE = os.environ.get("DORMOUSE", "http://localhost:8787")
API_KEY = os.environ["API_KEY"]
TOKEN_HMAC_SECRET_KEY = os.environ["TOKEN_HMAC_SECRET_KEY"]

# The names that the page knows, and that Laravel uses too.
CSRF_COOKIE_NAME = "XSRF-TOKEN"
CSRF_HEADER_NAME = "HTTP_X_XSRF_TOKEN"

DEBUG = True
SECRET_KEY = "for development only"
ROOT_URLCONF = "urls"
# A session is in its cookie, so that this example needs no database.
SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
]
