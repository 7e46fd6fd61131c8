"""The console's addresses."""

from django.contrib import admin
from django.urls import path
from django.views.generic import RedirectView

from ledger.api import api
from ledger.api.routes import add_for_people
from review.doors import http
from review.views.icon import icon

add_for_people(api, http.routes())

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:review_queue")),
    path("favicon.ico", icon),
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
]
handler400 = "review.views.errors.unusable"
handler403 = "review.views.errors.forbidden"
handler404 = "review.views.errors.not_found"
handler500 = "review.views.errors.broken"
