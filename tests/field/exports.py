"""Small exports as platforms write them, of nobody's data, each with the ratings that a person reads in it."""

import json
from pathlib import Path

Rating = tuple[str, str, str, str, str]  # worker, item, system, criterion ('' for one alone), rating

QUALTRICS = """StartDate,Status,Progress,Duration (in seconds),Finished,ResponseId,PROLIFIC_PID,1_Q5,2_Q5,10_Q5
Start Date,Response Type,Progress,Duration (in seconds),Finished,Response ID,PROLIFIC_PID,"Rate the text
s01 sysA","Rate the text, s02 sysB","Rate the text s03 sysA"
"{""ImportId"":""startDate"",""timeZone"":""America/Denver""}","{""ImportId"":""status""}","{""ImportId"":""progress""}","{""ImportId"":""duration""}","{""ImportId"":""finished""}","{""ImportId"":""_recordId""}","{""ImportId"":""PROLIFIC_PID""}","{""ImportId"":""1_QID5""}","{""ImportId"":""2_QID5""}","{""ImportId"":""10_QID5""}"
2026-01-02 10:00:00,IP Address,100,431,True,R_1,p-one,4,2,1
2026-01-02 10:05:00,Survey Preview,100,30,True,R_2,,1,1,1
2026-01-02 10:07:00,IP Address,100,390,True,R_3,p-two,5,,3
"""
QUALTRICS_MAPPING = """schema = "humeval_power/mapping/1"
ratings = "{slot}_Q5"
[columns]
worker = "PROLIFIC_PID"
time_s = "Duration (in seconds)"
[slots]
1 = { item = "s01", system = "sysA" }
2 = { item = "s02", system = "sysB" }
10 = { item = "s03", system = "sysA" }
[drop_rows]
Status = ["Survey Preview"]
"""
QUALTRICS_RATINGS: list[Rating] = [
    ("p-one", "s01", "sysA", "", "4"),
    ("p-one", "s02", "sysB", "", "2"),
    ("p-one", "s03", "sysA", "", "1"),
    ("p-two", "s01", "sysA", "", "5"),
    ("p-two", "s03", "sysA", "", "3"),
]

PROLIFIC = """Submission id,Participant id,Status,Started at,Completed at,Time taken,Completion code,Age
1,p-one,APPROVED,2026-01-02T10:00,2026-01-02T10:07,431,C1,30
2,p-two,REJECTED,2026-01-02T10:07,2026-01-02T10:13,390,NOCODE,DATA_EXPIRED
3,p-three,RETURNED,2026-01-02T10:07,,12,,41
"""


def label_studio_tasks() -> list[dict[str, object]]:
    """Two tasks: one with a cancelled annotation, one with the annotator as an object, one task without any."""

    def result(name: str, kind: str, value: object) -> dict[str, object]:
        return {"from_name": name, "to_name": "text", "type": kind, "value": {kind: value}}

    first = {
        "id": 11,
        "data": {"item_id": "s01", "system": "sysA", "output": "Hi"},
        "annotations": [
            {
                "id": 101,
                "completed_by": 7,
                "was_cancelled": False,
                "lead_time": 9.5,
                "result": [result("fluency", "rating", 4), result("quality", "number", 71)],
            },
            {"id": 102, "completed_by": 8, "was_cancelled": True, "lead_time": 2.0, "result": []},
        ],
    }
    second = {
        "id": 12,
        "data": {"item_id": "s01", "system": "sysB", "output": 'Ho, "ho"'},
        "annotations": [
            {
                "id": 103,
                "completed_by": {"id": 8, "email": "someone@example.org"},
                "was_cancelled": False,
                "lead_time": 11,
                "result": [result("fluency", "rating", 2), result("quality", "number", 12.5)],
            }
        ],
    }
    return [first, second, {"id": 13, "data": {"item_id": "s02", "system": "sysA"}, "annotations": []}]


LABEL_STUDIO_RATINGS: list[Rating] = [
    ("7", "s01", "sysA", "fluency", "4"),
    ("7", "s01", "sysA", "quality", "71"),
    ("8", "s01", "sysB", "fluency", "2"),
    ("8", "s01", "sysB", "quality", "12.5"),
]
LABEL_STUDIO_SHORT = [
    {"item_id": "s01", "system": "sysA", "id": 11, "fluency": [{"rating": 4}], "quality": [{"number": 71}],
     "annotator": 7, "annotation_id": 101, "lead_time": 9.5},
    {"item_id": "s01", "system": "sysB", "id": 12, "fluency": [{"rating": 2}], "quality": [{"number": 12.5}],
     "annotator": 8, "annotation_id": 103, "lead_time": 11},
]  # fmt: skip
LABEL_STUDIO_CSV = """"annotation_id","annotator","fluency","id","item_id","lead_time","quality","system"
101,"7","[{""rating"":4}]",11,"s01",9.5,"[{""number"":71}]","sysA"
103,"8","[{""rating"":2}]",12,"s01",11,"[{""number"":12.5}]","sysB"
"""

ARGILLA = [
    {"id": "r1", "status": "completed", "text": "Hi", "item": "s01", "system": "sysA",
     "quality.responses": [4, 2], "quality.responses.users": ["u-1", "u-2"],
     "quality.responses.status": ["submitted", "discarded"],
     "quality.suggestion": 5, "quality.suggestion.score": None},
    {"id": "r2", "status": "completed", "text": "Ho", "item": "s01", "system": "sysB",
     "quality.responses": [1], "quality.responses.users": ["u-1"], "quality.responses.status": ["submitted"]},
    {"id": "r3", "status": "pending", "text": "Hu", "item": "s02", "system": "sysB",
     "quality.responses": None, "quality.responses.users": None, "quality.responses.status": None},
]  # fmt: skip
ARGILLA_RATINGS: list[Rating] = [("u-1", "s01", "sysA", "", "4"), ("u-1", "s01", "sysB", "", "1")]

POTATO = """instance_id,user_id,fluency.scale_4,fluency.scale_5
s01__sysA,p1,4,
s01__sysB,p2,,5
"""
POTATO_RATINGS: list[Rating] = [("p1", "s01", "sysA", "", "4"), ("p2", "s01", "sysB", "", "5")]


def _pearmut(user: str, place: object, item: str, scores: object, **more: object) -> dict[str, object]:
    segments = [
        {"src": "x", "tgt": {"sysA": "a", "sysB": "b"}, "item_id": f"{item}_{at}", "doc": item}
        for at in (0, 1)
    ]
    segments[1].update(more)
    annotation = scores if not isinstance(scores, list) else [
        None if one is None else {name: {"score": score, "error_spans": []} for name, score in one.items()}
        for one in scores
    ]  # fmt: skip
    return {
        "annotation": annotation,
        "actions": [{"time": 1}],
        "item": segments,
        "user_id": user,
        "item_i": place,
    }


PEARMUT = [
    _pearmut("p1", "welcome_0", "hello", [{"sysA": 1}, {"sysB": 1}]),
    _pearmut("p1", 0, "d0", [{"sysA": 10, "sysB": 20}, {"sysA": 30, "sysB": 40}]),
    _pearmut("p2", 0, "d0", [{"sysB": 1}, {"sysA": 2}]),
    _pearmut("p1", 0, "d0", [{"sysA": 11, "sysB": 21}, None]),
    _pearmut("p2", 0, "d0", "reset"),
    _pearmut(
        "p2",
        1,
        "d1",
        [{"sysA": 70.5, "sysB": 0}, {"sysA": 9, "sysB": 8}],
        validation={"sysA": {"warning": "?"}},
    ),
]
PEARMUT_RATINGS: list[Rating] = [
    ("p1", "d0_0", "sysA", "", "11"),
    ("p1", "d0_0", "sysB", "", "21"),
    ("p2", "d1_0", "sysA", "", "70.5"),
    ("p2", "d1_0", "sysB", "", "0"),
]

APPRAISE = """engdeu0101,sysA.txt,68,TGT,eng,deu,10,1700000000.1,1700000009.9
engdeu0101,sysB.txt,68,BAD,eng,deu,3,1700000010.0,1700000015.2
engdeu0102,sysB.txt,68,TGT,eng,deu,44,1700000010.0,1700000015.2
engdeu0102,sysC.txt+sysD.txt,69,TGT,eng,deu,80,1700000020.0,1700000025.2
engdeu0102,sysA.txt,68,CHK,eng,deu,12,1700000030.0,1700000035.2
"""
APPRAISE_RATINGS: list[Rating] = [
    ("engdeu0101", "68", "sysA.txt", "", "10"),
    ("engdeu0102", "68", "sysB.txt", "", "44"),
    ("engdeu0102", "69", "sysC.txt", "", "80"),
    ("engdeu0102", "69", "sysD.txt", "", "80"),
]

MQM = (
    "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    "sysA\td1\t1\t1\trater1\tHallo\t<v>Hi</v>\tAccuracy/Mistranslation\tMajor\n"
    "sysA\td1\t1\t1\trater1\tHallo\tHi<v>,</v>\tFluency/Punctuation\tMinor\n"
    "sysA\td1\t1\t1\trater1\tHallo\t<v>Hi</v>\tFluency/Grammar\tminor\n"
    'sysA\td1\t1\t2\trater1\t"Quoted\tSo\tNo-error\tno-error\n'
    "sysB\td1\t1\t1\trater1\tHallo\tXx\tNon-translation!\tMajor\n"
    "sysB\td1\t1\t2\trater2\tDu\tYou\tStyle/Awkward\tNeutral\n"
)
MQM_RATINGS: list[Rating] = [
    ("rater1", "d1:1", "sysA", "", "-6.1"),
    ("rater1", "d1:2", "sysA", "", "0"),
    ("rater1", "d1:1", "sysB", "", "-25"),
    ("rater2", "d1:2", "sysB", "", "0"),
]


def write_potato_folder(folder: Path) -> list[Rating]:
    """The states of two annotators, with labels as pairs and as tables; the ratings in them."""
    states = {
        "p1": {
            "s01__sysA": [
                [{"schema": "fluency", "name": "scale_4"}, "4"],
                [{"schema": "adequacy", "name": "label"}, "3"],
            ],
            "s01__sysB": [[{"schema": "fluency", "name": "2"}, True]],
        },
        "p2": {"s01__sysA": {"fluency": {"5": "true"}}},
    }  # fmt: skip
    for user, labels in states.items():
        place = folder / user
        place.mkdir(parents=True)
        state = {
            "user_id": user,
            "instance_id_to_label_to_value": labels,
            "instance_id_ordering": list(labels),
        }
        (place / "user_state.json").write_text(json.dumps(state))
    return [
        ("p1", "s01", "sysA", "adequacy", "3"),
        ("p1", "s01", "sysA", "fluency", "4"),
        ("p1", "s01", "sysB", "fluency", "2"),
        ("p2", "s01", "sysA", "fluency", "5"),
    ]


FORMS = """Timestamp,Email Address,How good? [s01 A],How good? [s01 B],How good? [s02 A]
2026/01/02 10:00:00 AM GMT+1,ann@example.org,4,Very good,
2026/01/02 11:00:00 AM GMT+1,ben@example.org,2,3,Bad
"""
FORMS_MAPPING = """schema = "humeval_power/mapping/1"
platform = "google-forms"
ratings = "How good? [{slot}]"
[columns]
worker = "Email Address"
[split]
slot = "{item} {system}"
[words]
"Very good" = 5
bad = 1
"""
FORMS_RATINGS: list[Rating] = [
    ("ann@example.org", "s01", "A", "", "4"),
    ("ann@example.org", "s01", "B", "", "5"),
    ("ben@example.org", "s01", "A", "", "2"),
    ("ben@example.org", "s01", "B", "", "3"),
    ("ben@example.org", "s02", "A", "", "1"),
]

WIDE = "item,system,Rater Ann,Rater Ben,Rater Cy\ns01,A,4,5,N/A\ns01,B,3,,2 \n"
WIDE_MAPPING = """schema = "humeval_power/mapping/1"
platform = "table"
ratings = "Rater {worker}"
missing = ["n/a"]
[columns]
item = "item"
system = "system"
"""
WIDE_RATINGS: list[Rating] = [
    ("Ann", "s01", "A", "", "4"),
    ("Ben", "s01", "A", "", "5"),
    ("Ann", "s01", "B", "", "3"),
    ("Cy", "s01", "B", "", "2"),
]
CRITERIA = "rater,text,sys,adequacy,fluency\nw1,s01,A,4,5\nw1,s01,B,3,2\n"
CRITERIA_MAPPING = """schema = "humeval_power/mapping/1"
platform = "table"
ratings = { adequacy = "adequacy", fluency = "fluency" }
[columns]
worker = "rater"
item = "text"
system = "sys"
"""
CRITERIA_RATINGS: list[Rating] = [
    ("w1", "s01", "A", "adequacy", "4"),
    ("w1", "s01", "A", "fluency", "5"),
    ("w1", "s01", "B", "adequacy", "3"),
    ("w1", "s01", "B", "fluency", "2"),
]
