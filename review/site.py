"""The admin site of the console: its addresses, its frame, and what may be registered on it."""

from dataclasses import dataclass
from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest
from django.urls import URLPattern, URLResolver, path, reverse
from django.views.generic import RedirectView

from review.login import LoginForm
from review.people import SEE_PEOPLE, people_for
from review.policy import policies
from review.queue import waiting_count
from review.rights import VIEW

# What the header leads to: label, name of the address, query. People are shown to who may see them.
_PAGES = (
    ("Queue", "review_queue", ""),
    ("Decided", "review_queue", "?tab=decided"),
    ("Jobs", "ledger_job_changelist", ""),
    ("Dead letters", "ledger_failedjob_changelist", ""),
    ("Keys", "ledger_idem_changelist", ""),
    ("Workflows", "ledger_workflow_changelist", ""),
    ("Providers", "ledger_provider_changelist", ""),
    ("Policies", "ledger_policy_changelist", ""),
    ("Audit", "ledger_auditevent_changelist", ""),
    ("Kill matrix", "review_kill_matrix", ""),
    ("People", "auth_user_changelist", ""),
)


@dataclass(frozen=True, slots=True)
class Page:
    """A link of the header."""

    label: str
    href: str
    current: bool
    count: str = ""


def _pages(request: HttpRequest) -> list[Page]:
    """List the header's links; items belong to the list they were opened from."""
    decided = request.GET.get("tab") == "decided"
    pages = []
    for label, name, query in _PAGES:
        if label == "People" and not request.user.has_perm(SEE_PEOPLE):
            continue
        path = reverse(f"admin:{name}")
        current = request.path.startswith(path)
        if name == "review_queue":
            current = current and decided == bool(query)
        count = waiting_count() if label == "Queue" else ""
        pages.append(Page(label, path + query, current, count))
    return pages


class ConsoleSite(AdminSite):
    """The stock admin under our own name, with the queue as its first page."""

    site_title = site_header = "Landed"
    site_url = None
    enable_nav_sidebar = False
    login_form = LoginForm

    def get_urls(self) -> list[URLPattern | URLResolver]:
        """Put the console's own pages before the admin's."""
        # The views need the models, and this module is imported before they are ready.
        from review.views import act, item, kill_matrix, queue  # noqa: PLC0415

        own: list[URLPattern | URLResolver] = [
            path("", RedirectView.as_view(pattern_name="admin:review_queue"), name="index"),
            path("queue/", self.admin_view(queue.queue), name="review_queue"),
            path(
                "kill-matrix/", self.admin_view(kill_matrix.kill_matrix), name="review_kill_matrix"
            ),
            path(
                "queue/conflict/<int:conflict_id>/preview/",
                self.admin_view(item.preview),
                name="review_preview",
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
        ]
        return own + super().get_urls()

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Add the header's pages, the number that waits, and whether this is a demo."""
        context = super().each_context(request)
        inside = context["has_permission"] and request.user.has_perm(VIEW)
        context["demo"] = policies()["demo"] is True
        context["pages"] = _pages(request) if inside else []
        context["people"] = people_for(request.user)
        return context
