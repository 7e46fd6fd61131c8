"""What the demo's workflows do to the outside, said once for their sends and the registrations.

A workflow and the native worker must send the same bytes under the same key, so both read this.
"""

from dataclasses import dataclass

BILLING, FORM = "billing-webhook", "form-intake"
PAYMENTS, MAIL, WEBHOOK = "demo-payments", "demo-mail", "demo-webhook"


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect: whose it is, where it goes, and the member that carries its identity.

    ``identity`` is the name of a column of mark_sending's answer.
    """

    name: str
    title: str
    workflow: str
    provider: str
    path: str
    member: str
    identity: str
    delivery: str = "native"
    amount_path: str | None = None


CHARGE = Effect(
    "charge",
    "charge",
    BILLING,
    PAYMENTS,
    "/charges",
    "reference",
    "provider_key",
    amount_path="amount",
)
WELCOME = Effect("welcome_mail", "welcome mail", FORM, MAIL, "/mail", "message_id", "handle")
NOTICE = Effect(
    "warehouse_notice", "warehouse notice", BILLING, WEBHOOK, "/hook", "key", "provider_key"
)
CRM_SYNC = Effect(
    "crm_sync", "CRM update", FORM, WEBHOOK, "/hook", "key", "provider_key", "workflow_queue"
)
EFFECTS = {effect.name: effect for effect in (CHARGE, WELCOME, NOTICE, CRM_SYNC)}
