"""The admin site of the console: its addresses, its frame, and what may be registered on it."""

from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.http import urlencode
from django.views.generic import RedirectView
from django.views.i18n import set_language

from review.access import second_factor
from review.login import LoginForm
from review.navigation import navigation
from review.people import people_for
from review.policy import policies
from review.rights import VIEW


class ConsoleSite(AdminSite):
    """The stock admin under our own name, with the queue as its first page."""

    site_title = site_header = "Landed"
    site_url = None
    enable_nav_sidebar = False
    login_form = LoginForm

    def get_urls(self) -> list[URLPattern | URLResolver]:
        """Put the console's own pages before the admin's."""
        # The views need the models, and this module is imported before they are ready.
        from review.views import (  # noqa: PLC0415
            act,
            bulk,
            edit,
            groups,
            item,
            kill_matrix,
            lists,
            queue,
            saved,
            together,
        )
        from review.views import second_factor as factor  # noqa: PLC0415
        from review.views.me import me  # noqa: PLC0415
        from review.views.second_factor_of import reset  # noqa: PLC0415

        own: list[URLPattern | URLResolver] = [
            path("", RedirectView.as_view(pattern_name="admin:review_queue"), name="index"),
            path("language/", set_language, name="review_language"),
            path("login/code/", factor.code, name="review_code"),  # after the password, before all
            path("me/", self.admin_view(me), name="review_me"),
            path(
                "me/second-factor/",
                self.admin_view(factor.second_factor),
                name="review_second_factor",
            ),
            path(
                "auth/user/<path:object_id>/second-factor/",
                self.admin_view(reset),
                name="review_reset_factor",
            ),
            path("queue/", self.admin_view(queue.queue), name="review_queue"),
            path("queue/alike/", self.admin_view(groups.groups), name="review_alike"),
            path(
                "kill-matrix/", self.admin_view(kill_matrix.kill_matrix), name="review_kill_matrix"
            ),
            *together.addresses(self.admin_view),
            *saved.addresses(self.admin_view),
            path(
                "queue/conflict/<int:conflict_id>/preview/",
                self.admin_view(item.preview),
                name="review_preview",
            ),
            path(
                "queue/<slug:source>/<str:item_id>/edit/",
                self.admin_view(edit.edit),
                name="review_edit",
            ),
            path(
                "queue/conflict/<int:conflict_id>/<slug:verb>/",
                self.admin_view(act.act),
                name="review_act",
            ),
            path(
                "queue/<slug:source>/<str:item_id>/<slug:verb>/",
                self.admin_view(act.act_other),
                name="review_act_other",
            ),
            path(
                "queue/<slug:source>/<str:item_id>/", self.admin_view(item.item), name="review_item"
            ),
            *bulk.addresses(self.admin_view),
            *lists.addresses(self.admin_view),
        ]
        # Django's way from a row to its place on the site leads nowhere: there is no such site.
        nowhere = "view_on_site"
        stock = [each for each in super().get_urls() if getattr(each, "name", "") != nowhere]
        return own + stock

    def has_permission(self, request: HttpRequest) -> bool:
        """Let nobody in who still owes the code of their second factor."""
        return super().has_permission(request) and not second_factor.owes_code(request)

    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Ask for the code where the password was right already."""
        if request.method == "GET" and second_factor.owes_code(request):
            kept = urlencode({"next": request.GET.get("next", "")})
            return HttpResponseRedirect(f"{reverse('admin:review_code')}?{kept}")
        return super().login(request, extra_context)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Add the header's pages, the number that waits, and whether this is a demo."""
        context = super().each_context(request)
        inside = context["has_permission"] and request.user.has_perm(VIEW)
        context["demo"] = policies()["demo"] is True
        context["pages"] = navigation(request) if inside else []
        context["people"] = people_for(request.user)
        return context
