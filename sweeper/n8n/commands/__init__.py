"""The verbs of `manage.py n8n`, one a module: HELP, add_arguments(parser), run(say, options).

``say`` prints a line for people. What a verb cannot do is a SweeperError whose words it prints.
"""
