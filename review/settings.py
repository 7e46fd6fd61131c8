"""Django's settings. Every choice a site may make is an environment variable read here.

LANDED_DIR                  what this installation keeps (default .landed)
DATABASE_URL                the runtime role's address; without it a private PostgreSQL is started
DATABASE_OWNER_URL          the owner's address, direct and never through a pooler
DATABASE_DIRECT_URL         the runtime role's address past the pooler of DATABASE_URL
LANDED_N8N                  the n8n instances that are asked for runs: name=https://address, …
LANDED_HTTPS=1              people reach the console through a proxy that ends TLS
LANDED_ALLOWED_HOSTS        further host names, separated by commas
LANDED_PROXIES              addresses or networks of the proxies whose X-Forwarded-For is believed
LANDED_SECRET_KEY           replaces the key made once in LANDED_DIR
LANDED_DEBUG=1              Django's debug pages; never on a machine others reach
"""

import os
import secrets
from ipaddress import ip_network

from django.utils.csp import CSP

from ledger import dsn
from ledger.local import ROOT, kept_secret, state_dir

DEBUG = os.environ.get("LANDED_DEBUG") == "1"
HTTPS = os.environ.get("LANDED_HTTPS") == "1"
SECRET_KEY = os.environ.get("LANDED_SECRET_KEY") or kept_secret(
    "secret-key", lambda: secrets.token_urlsafe(64)
)
_EXTRA_HOSTS = [
    host
    for entry in os.environ.get("LANDED_ALLOWED_HOSTS", "").split(",")
    if (host := entry.strip())
]
LANDED_PROXIES = [
    ip_network(entry, strict=False)
    for entry in os.environ.get("LANDED_PROXIES", "").replace(",", " ").split()
]
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", *_EXTRA_HOSTS]

# -- the program -------------------------------------------------------------------------------

INSTALLED_APPS = [
    "review.apps.ReviewConfig",  # before the admin: its templates and commands win
    "sweeper.apps.SweeperConfig",
    "ledger.apps.LedgerConfig",
    "review.apps.ConsoleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "django_filters",
    "django_otp",
    "django_otp.plugins.otp_static",
    "django_otp.plugins.otp_totp",
    "django_q",
    "axes",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "ledger.api.middleware.ApiFirst",  # what follows is for people in a browser
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "review.middleware.OwnLanguage",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "review.access.sessions.SessionAge",
    "django_otp.middleware.OTPMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "review.middleware.StorableAddress",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",  # last, so that its answer to a locked log-in stands
]
ROOT_URLCONF = "review.urls"
WSGI_APPLICATION = "review.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.csp",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# -- the database ------------------------------------------------------------------------------

_logins = dsn.resolve()
DB_OWNER = _logins.owner
DB_APP = _logins.app
DB_MODE = _logins.mode
DB_DIRECT = _logins.direct
LEDGER_ROLES = _logins.roles()
DATABASES = {
    "default": {
        **_logins.app,
        "ENGINE": "django.db.backends.postgresql",
        "CONN_MAX_AGE": None,  # a new connection costs more than most requests
        "CONN_HEALTH_CHECKS": True,  # a restarted server must not cost each thread one request
        "DISABLE_SERVER_SIDE_CURSORS": True,  # a pooler in transaction mode loses them
        "ATOMIC_REQUESTS": False,  # a rollback would erase the record of a refused write
        "OPTIONS": {
            "prepare_threshold": None,  # a pooler in transaction mode mixes sessions
            "application_name": "landed",
            "connect_timeout": 5,
            **_logins.app["OPTIONS"],
        },
    },
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# -- time and language -------------------------------------------------------------------------

TIME_ZONE = "UTC"
USE_TZ = True
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [ROOT / "review" / "locale"]
LANGUAGE_COOKIE_AGE = 365 * 86_400
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_SECURE = HTTPS
FORMAT_MODULE_PATH = ["review.formats"]

# -- static files ------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATIC_ROOT = state_dir() / "static"
STATIC_ROOT.mkdir(exist_ok=True)  # WhiteNoise warns about a missing one
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = True

# -- security ----------------------------------------------------------------------------------

SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF, CSP.NONCE],
    "style-src": [CSP.SELF, CSP.NONCE],
    "img-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "frame-ancestors": [CSP.NONE],
    "base-uri": [CSP.NONE],
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"

# Cookies know no ports: names of our own keep other programs on this host from losing theirs. Under
# TLS the prefix lets no other host of the domain set them.
_COOKIE = "__Host-landed" if HTTPS else "landed"
SESSION_COOKIE_NAME = f"{_COOKIE}_session"
CSRF_COOKIE_NAME = f"{_COOKIE}_csrf"
SESSION_COOKIE_AGE = 12 * 3600  # until review.access.sessions gives a log-in its time
SESSION_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
# A link in a mail has to arrive logged in; a POST from elsewhere comes without the cookie.
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"

if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_HSTS_SECONDS = 365 * 24 * 3600
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    CSRF_TRUSTED_ORIGINS = [f"https://{host.removeprefix('.')}" for host in _EXTRA_HOSTS]
# Preloading binds a whole domain for years; that is for its owner to decide, not for one program.
SILENCED_SYSTEM_CHECKS = ["security.W021"]

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",  # first: what is locked is not looked at
    "django.contrib.auth.backends.ModelBackend",
]
AXES_LOCKOUT_PARAMETERS = "review.access.throttle.counted_by"
AXES_FAILURE_LIMIT = "review.access.throttle.attempts"
AXES_COOLOFF_TIME = "review.access.throttle.lockout"
AXES_CLIENT_IP_CALLABLE = "review.access.address.counted_address"
AXES_LOCKOUT_CALLABLE = "review.views.errors.locked_out"
# Or who knocks on would keep somebody's name locked for ever.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
# Or whoever has an account could wipe out their own failures at somebody else's.
AXES_RESET_ON_SUCCESS = False
AXES_DISABLE_ACCESS_LOG = True  # the audit has what is kept
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "csrfmiddlewaretoken", "next"]
OTP_TOTP_ISSUER = "Landed"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "admin:login"
CSRF_FAILURE_VIEW = "review.views.errors.forged"

# -- scheduled work ----------------------------------------------------------------------------

# One worker that takes one task at a time: the queue only triggers, the ledger's leases guard.
# A task that waits counts against `retry`, so it is ten times the longest run; a task that failed
# is not repeated, the next tick is.
Q_CLUSTER = {
    "name": "landed",
    "orm": "default",
    "workers": 1,
    "queue_limit": 1,
    "bulk": 1,
    "timeout": 90,
    "retry": 900,
    "max_attempts": 1,
    "ack_failures": True,
    "catch_up": False,
    "poll": 1,
    "save_limit": 100,
    "log_level": "WARNING",
}

# -- messages to the outside -------------------------------------------------------------------

# Who is told when something waits for a person; with neither set, nobody is.
LANDED_ALERT_WEBHOOK = os.environ.get("LANDED_ALERT_WEBHOOK")
LANDED_ALERT_MAIL = os.environ.get("LANDED_ALERT_MAIL", "").replace(",", " ").split()
# The n8n instances that runs name; each key in LANDED_SECRET_N8N_NAME (sweeper/n8n/instances.py).
LANDED_N8N = os.environ.get("LANDED_N8N", "").replace(",", " ").split()
LANDED_N8N_HOME = state_dir() / "n8n"  # what the n8n of `manage.py n8n up` keeps
# Hosts (host or host:port) that webhooks and n8n may have at private addresses and over plain http.
LANDED_PRIVATE_HOSTS = os.environ.get("LANDED_PRIVATE_HOSTS", "").replace(",", " ").split()
DEFAULT_FROM_EMAIL = os.environ.get("DEFAULT_FROM_EMAIL", "landed@localhost")
MAILERS = {
    "default": {
        "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "OPTIONS": {
            "host": os.environ.get("EMAIL_HOST", "localhost"),
            "port": int(os.environ.get("EMAIL_PORT", "25")),
            "username": os.environ.get("EMAIL_HOST_USER", ""),
            "password": os.environ.get("EMAIL_HOST_PASSWORD", ""),
            "use_tls": os.environ.get("EMAIL_USE_TLS") == "1",
            "use_ssl": os.environ.get("EMAIL_USE_SSL") == "1",
            "timeout": 15,
        },
    },
}

# -- logs: everything to stderr, where the supervisor and systemd collect it -------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"},
    },
    "filters": {"away": {"()": "ledger.away.OneLineWhileAway"}},
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["away"]}
    },
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        # Django would mail errors to nobody; and a wrong password is not worth a line.
        "django": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
        "django.request": {"handlers": ["stderr"], "level": "ERROR", "propagate": False},
        "axes": {"handlers": ["stderr"], "level": "ERROR", "propagate": False},
    },
}
