"""Reading exported n8n workflows for what loses or doubles an effect.

Everything here is pure: text in, findings out. The export becomes one model (``model``,
``export``), what its texts say is read by real parsers (``js``, ``sql``, ``values``), the words
that rules speak are said once (``nodes``, ``doors``, ``guards``, ``fields``), and a rule is one
small file in ``rules``. Files, the database and the command line are for whoever calls ``run``.
"""
