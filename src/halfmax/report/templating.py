"""What all HTML pages share: templates and formatted numbers."""

from typing import Any

from halfmax import __version__


def fill_template(package: str, name: str, **values: Any) -> str:
    """Fill in a template of a package; everything but markup is escaped."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["number"] = shown_number
    return environment.get_template(name).render(version=__version__, **values)


def shown_number(value: float | str | None) -> str:
    """Return a number as people read it, and text as it is.

    >>> [shown_number(value) for value in (0.8333333, 0.9999995, 1.2e-16, 1000000.0, None)]
    ['0.8333', '0.9999995', '1.2e-16', '1,000,000', 'no number']
    """
    if value is None:
        return "no number"
    if isinstance(value, str):
        return value
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{value:,.0f}"
    short = f"{value:.4g}"
    return f"{value:.7g}" if float(short).is_integer() else short
