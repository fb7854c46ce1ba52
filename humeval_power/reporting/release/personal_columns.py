"""Columns and texts that tell of a person without being an id: addresses of computers, places, times, names.

The names are those of Qualtrics, Prolific, MTurk, Google Forms and other tools, and what people call such columns
themselves.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

from humeval_power.checking.columns import bare

_NAMES: dict[str, frozenset[str]] = {
    "IP addresses": frozenset({"ipaddress", "ip", "ipaddr", "clientip", "remoteip", "userip"}),
    "where people were": frozenset(
        {
            *(
                "locationlatitude",
                "locationlongitude",
                "latitude",
                "longitude",
                "lat",
                "lon",
                "lng",
                "long",
            ),
            *("geolocation", "coordinates", "gps", "zip", "zipcode", "postcode", "postalcode", "city"),
            *("address", "street", "homeaddress", "location"),
        }
    ),
    "names of people": frozenset(
        {
            *("recipientlastname", "recipientfirstname", "firstname", "lastname", "surname", "givenname"),
            *("familyname", "fullname", "nickname", "username", "participantname", "workername"),
        }
    ),
    "e-mail addresses or telephone numbers": frozenset(
        {
            *("recipientemail", "email", "emailaddress", "mail", "useremail", "phone", "phonenumber"),
            *("telephone", "mobile", "mobilenumber"),
        }
    ),
    "dates of birth": frozenset({"dateofbirth", "birthdate", "birthday", "dob", "yearofbirth"}),
    "ids of persons or of their work on a platform": frozenset(
        {
            *("responseid", "externalreference", "externaldatareference", "prolificpid", "prolificid"),
            *("sessionid", "participantid", "workerid", "assignmentid", "submissionid", "mturkid"),
            *("annotatorid", "deviceid", "fingerprint", "cookie", "completioncode", "userid"),
        }
    ),
    "the programs and devices of people": frozenset(
        {"useragent", "browser", "browserversion", "operatingsystem", "resolution", "userlanguage"}
    ),
}
_TIMES_OF_TOOLS = frozenset(
    {
        *("startdate", "enddate", "recordeddate", "accepttime", "submittime", "startedat", "completedat"),
        *("reviewedat", "archivedat", "autoapprovaltime", "approvaltime", "rejectiontime", "creationtime"),
    }
)
_TIMES = _TIMES_OF_TOOLS | {
    *("timestamp", "date", "datetime", "time", "created", "createdat", "updatedat", "started", "ended"),
    *("starttime", "endtime", "submitted", "submittedat", "submissiontime", "day", "recordedat"),
}
TIMES = "times, by which people can be found again"
_AMBIGUOUS = {"lat", "lon", "long", "city", "address", "street", "location", "ip", "cookie", "resolution"}
_NO_SECTION = 20  # numbers of sections and versions are smaller
_TIME = re.compile(
    r"\d{4}-\d\d?-\d\d?[T ]+\d\d?:\d\d|\d{4}/\d\d?/\d\d?,? \d\d?:\d\d|\d\d?[./-]\d\d?[./-]\d{2,4},? \d\d?:\d\d"
    r"|\w{3} \w{3} +\d\d? \d\d:\d\d"
)
_PLACE = re.compile(r"\(?-?\d{1,2}\.\d{3,}\s*[,;]\s*-?\d{1,3}\.\d{3,}\)?")
_ADDRESS = re.compile(
    r"(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7})(?![\w.:])"
)


def named_as_personal(name: str, *, in_a_document: bool = False) -> str | None:
    """What a column of this name holds of people; None where its name says nothing of them. In a document a name
    counts only where it can hardly be anything else."""
    word = bare(name)
    if word in (_TIMES_OF_TOOLS if in_a_document else _TIMES):
        return TIMES
    if in_a_document and word in _AMBIGUOUS:
        return None
    return next((what for what, names in _NAMES.items() if word in names), None)


def ip_address(text: str) -> str | None:
    """The first IP address in a text, of version 4 or 6; numbers of sections and versions such as 3.2.2.1 are none,
    unless the text is nothing else."""
    for found in _ADDRESS.findall(text):
        try:
            address = ipaddress.ip_address(found)
        except ValueError:
            continue
        if address.is_loopback or address.is_unspecified:
            continue
        parts = [part for part in re.split("[.:]", found) if part]
        is_telling = sum(int(part) >= _NO_SECTION for part in parts) > 1 if "." in found else len(parts) > 2
        if is_telling or ("." in found and text.strip() == found):
            return str(found)
    return None


def personal_values(values: Sequence[str]) -> dict[str, list[str]]:
    """The different values of a column that tell of people, by what they are; times and places where half of them
    or more are such."""
    told = [value for value in values if value.strip()]
    found = {"an IP address": [value for value in told if ip_address(value) is not None]}
    for what, pattern in (("a time", _TIME), ("a place on the map", _PLACE)):
        those = [value for value in told if pattern.match(value.strip())]
        found[what] = those if 2 * len(those) >= len(told) else []
    return {what: those for what, those in found.items() if those}
