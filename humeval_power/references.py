"""The literature that the package cites to its users, each work once, with the key of its BibTeX entry.

Every work is found by how texts name it, such as 'Holm 1979' or 'Card et al. (2020)'.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from humeval_power.errors import InputError

Kind = Literal["article", "book", "inproceedings", "misc"]
_MOST_NAMED = 3  # authors that a text names one by one


@dataclass(frozen=True, slots=True)
class Reference:
    """A published work.

    authors : 'Family, Given', in order; a name without a comma is that of a group. details : further fields of
        BibTeX by name, as plain text.
    own_key : the key of its entry, where that is not made of its authors and year.
    """

    kind: Kind
    authors: tuple[str, ...]
    year: int
    title: str
    details: Mapping[str, str] = field(default_factory=dict, hash=False)
    own_key: str = ""

    @property
    def families(self) -> tuple[str, ...]:
        """The family names of the authors."""
        return tuple(name.partition(",")[0] for name in self.authors)

    @property
    def named(self) -> str:
        """How texts name it: 'Holm 1979', 'Kenward and Roger 1997', 'Card et al. 2020'."""
        return f"{_in_words(self.families)} {self.year}"

    @property
    def key(self) -> str:
        """The key of its entry, such as 'kenward-roger-1997'."""
        if self.own_key:
            return self.own_key
        names = self.families if len(self.authors) <= _MOST_NAMED else (self.families[0], "et-al")
        return "-".join(re.sub(r"[^a-z-]", "", name.lower()) for name in names) + f"-{self.year}"


def _in_words(names: tuple[str, ...]) -> str:
    if len(names) > _MOST_NAMED:
        return f"{names[0]} et al."
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _article(
    authors: tuple[str, ...], year: int, title: str, *, journal: str, volume: str, pages: str, **more: str
) -> Reference:
    return Reference(
        "article",
        authors,
        year,
        title,
        {"journal": journal, "volume": volume, "number": more.pop("number", ""), "pages": pages, **more},
    )


_WORKS = (
    Reference(
        "misc",
        ("Angelopoulos, Anastasios N.", "Duchi, John C.", "Zrnic, Tijana"),
        2023,
        "PPI++: Efficient Prediction-Powered Inference",
        {"eprint": "2311.01453", "archiveprefix": "arXiv", "url": "https://arxiv.org/abs/2311.01453"},
    ),
    _article(
        ("Bates, Douglas", "Mächler, Martin", "Bolker, Ben", "Walker, Steve"),
        2015,
        "Fitting Linear Mixed-Effects Models Using lme4",
        journal="Journal of Statistical Software",
        volume="67",
        number="1",
        pages="1-48",
        doi="10.18637/jss.v067.i01",
    ),
    _article(
        ("Bell, Robert M.", "McCaffrey, Daniel F."),
        2002,
        "Bias Reduction in Standard Errors for Linear Regression with Multi-Stage Samples",
        journal="Survey Methodology",
        volume="28",
        number="2",
        pages="169-181",
    ),
    Reference(
        "misc",
        ("Belz, Anya", "Thomson, Craig"),
        2024,
        "HEDS 3.0: The Human Evaluation Data Sheet Version 3.0",
        {"eprint": "2412.07940", "archiveprefix": "arXiv", "url": "https://arxiv.org/abs/2412.07940"},
    ),
    _article(
        ("Benjamini, Yoav", "Hochberg, Yosef"),
        1995,
        "Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple Testing",
        journal="Journal of the Royal Statistical Society: Series B",
        volume="57",
        number="1",
        pages="289-300",
        doi="10.1111/j.2517-6161.1995.tb02031.x",
    ),
    _article(
        ("Bradley, Ralph Allan", "Terry, Milton E."),
        1952,
        "Rank Analysis of Incomplete Block Designs: I. The Method of Paired Comparisons",
        journal="Biometrika",
        volume="39",
        number="3/4",
        pages="324-345",
        doi="10.2307/2334029",
    ),
    Reference(
        "inproceedings",
        (
            "Card, Dallas",
            "Henderson, Peter",
            "Khandelwal, Urvashi",
            "Jia, Robin",
            "Mahowald, Kyle",
            "Jurafsky, Dan",
        ),
        2020,
        "With Little Power Comes Great Responsibility",
        {
            "booktitle": "Proceedings of the 2020 Conference on Empirical Methods in Natural Language "
            "Processing (EMNLP)",
            "pages": "9263-9274",
            "publisher": "Association for Computational Linguistics",
            "doi": "10.18653/v1/2020.emnlp-main.745",
            "url": "https://aclanthology.org/2020.emnlp-main.745",
        },
    ),
    _article(
        ("Brunner, Edgar", "Munzel, Ullrich"),
        2000,
        "The Nonparametric Behrens-Fisher Problem: Asymptotic Theory and a Small-Sample Approximation",
        journal="Biometrical Journal",
        volume="42",
        number="1",
        pages="17-25",
    ),
    _article(
        ("Davidson, Roger R.",),
        1970,
        "On Extending the Bradley-Terry Model to Accommodate Ties in Paired Comparison Experiments",
        journal="Journal of the American Statistical Association",
        volume="65",
        number="329",
        pages="317-328",
        doi="10.1080/01621459.1970.10481082",
    ),
    _article(
        ("Dunnett, Charles W.",),
        1955,
        "A Multiple Comparison Procedure for Comparing Several Treatments with a Control",
        journal="Journal of the American Statistical Association",
        volume="50",
        number="272",
        pages="1096-1121",
        doi="10.1080/01621459.1955.10501294",
    ),
    Reference(
        "book",
        ("Efron, Bradley", "Tibshirani, Robert J."),
        1993,
        "An Introduction to the Bootstrap",
        {"publisher": "Chapman and Hall", "address": "New York"},
    ),
    _article(
        ("Gelman, Andrew", "Carlin, John"),
        2014,
        "Beyond Power Calculations: Assessing Type S (Sign) and Type M (Magnitude) Errors",
        journal="Perspectives on Psychological Science",
        volume="9",
        number="6",
        pages="641-651",
        doi="10.1177/1745691614551642",
    ),
    _article(
        ("Hasler, Mario", "Hothorn, Ludwig A."),
        2008,
        "Multiple Contrast Tests in the Presence of Heteroscedasticity",
        journal="Biometrical Journal",
        volume="50",
        number="5",
        pages="793-800",
        doi="10.1002/bimj.200710466",
    ),
    _article(
        ("Haybittle, J. L.",),
        1971,
        "Repeated Assessment of Results in Clinical Trials of Cancer Treatment",
        journal="The British Journal of Radiology",
        volume="44",
        number="526",
        pages="793-797",
    ),
    _article(
        ("Holm, Sture",),
        1979,
        "A Simple Sequentially Rejective Multiple Test Procedure",
        journal="Scandinavian Journal of Statistics",
        volume="6",
        number="2",
        pages="65-70",
    ),
    _article(
        ("Hothorn, Torsten", "Bretz, Frank", "Westfall, Peter"),
        2008,
        "Simultaneous Inference in General Parametric Models",
        journal="Biometrical Journal",
        volume="50",
        number="3",
        pages="346-363",
        doi="10.1002/bimj.200810425",
    ),
    _article(
        ("Hsu, Jason C.",),
        1984,
        "Constrained Simultaneous Confidence Intervals for Multiple Comparisons with the Best",
        journal="The Annals of Statistics",
        volume="12",
        number="3",
        pages="1136-1144",
    ),
    _article(
        ("Hwang, Irving K.", "Shih, Weichung J.", "De Cani, John S."),
        1990,
        "Group Sequential Designs Using a Family of Type I Error Probability Spending Functions",
        journal="Statistics in Medicine",
        volume="9",
        number="12",
        pages="1439-1445",
    ),
    _article(
        ("Jennison, Christopher", "Turnbull, Bruce W."),
        1989,
        "Interim Analyses: The Repeated Confidence Interval Approach",
        journal="Journal of the Royal Statistical Society: Series B",
        volume="51",
        number="3",
        pages="305-334",
    ),
    _article(
        ("Kenward, Michael G.", "Roger, James H."),
        1997,
        "Small Sample Inference for Fixed Effects from Restricted Maximum Likelihood",
        journal="Biometrics",
        volume="53",
        number="3",
        pages="983-997",
        doi="10.2307/2533558",
    ),
    _article(
        ("Kim, Kyungmann", "DeMets, David L."),
        1987,
        "Design and Analysis of Group Sequential Tests Based on the Type I Error Spending Rate Function",
        journal="Biometrika",
        volume="74",
        number="1",
        pages="149-154",
        doi="10.1093/biomet/74.1.149",
    ),
    Reference(
        "book",
        ("Krippendorff, Klaus",),
        2004,
        "Content Analysis: An Introduction to Its Methodology",
        {"edition": "Second", "publisher": "Sage", "address": "Thousand Oaks, CA"},
    ),
    _article(
        ("Kuznetsova, Alexandra", "Brockhoff, Per B.", "Christensen, Rune H. B."),
        2017,
        "lmerTest Package: Tests in Linear Mixed Effects Models",
        journal="Journal of Statistical Software",
        volume="82",
        number="13",
        pages="1-26",
        doi="10.18637/jss.v082.i13",
    ),
    _article(
        ("Lan, K. K. Gordon", "DeMets, David L."),
        1983,
        "Discrete Sequential Boundaries for Clinical Trials",
        journal="Biometrika",
        volume="70",
        number="3",
        pages="659-663",
        doi="10.1093/biomet/70.3.659",
    ),
    _article(
        ("Mann, Henry B.", "Whitney, Donald R."),
        1947,
        "On a Test of Whether One of Two Random Variables Is Stochastically Larger than the Other",
        journal="The Annals of Mathematical Statistics",
        volume="18",
        number="1",
        pages="50-60",
        doi="10.1214/aoms/1177730491",
    ),
    _article(
        ("Maurer, Willi", "Bretz, Frank"),
        2013,
        "Multiple Testing in Group Sequential Trials Using Graphical Approaches",
        journal="Statistics in Biopharmaceutical Research",
        volume="5",
        number="4",
        pages="311-320",
    ),
    _article(
        ("McGraw, Kenneth O.", "Wong, S. P."),
        1996,
        "Forming Inferences about Some Intraclass Correlation Coefficients",
        journal="Psychological Methods",
        volume="1",
        number="1",
        pages="30-46",
        doi="10.1037/1082-989X.1.1.30",
    ),
    _article(
        ("McNemar, Quinn",),
        1947,
        "Note on the Sampling Error of the Difference between Correlated Proportions or Percentages",
        journal="Psychometrika",
        volume="12",
        number="2",
        pages="153-157",
        doi="10.1007/BF02295996",
    ),
    Reference(
        "misc",
        ("Miller, Evan",),
        2024,
        "Adding Error Bars to Evals: A Statistical Approach to Language Model Evaluations",
        {"eprint": "2411.00640", "archiveprefix": "arXiv", "url": "https://arxiv.org/abs/2411.00640"},
    ),
    _article(
        ("O'Brien, Peter C.", "Fleming, Thomas R."),
        1979,
        "A Multiple Testing Procedure for Clinical Trials",
        journal="Biometrics",
        volume="35",
        number="3",
        pages="549-556",
        doi="10.2307/2530245",
    ),
    _article(
        ("Obuchowski, Nancy A.",),
        1997,
        "Nonparametric Analysis of Clustered ROC Curve Data",
        journal="Biometrics",
        volume="53",
        number="2",
        pages="567-578",
        doi="10.2307/2533958",
    ),
    _article(
        ("Patterson, H. D.", "Thompson, R."),
        1971,
        "Recovery of Inter-Block Information when Block Sizes are Unequal",
        journal="Biometrika",
        volume="58",
        number="3",
        pages="545-554",
        doi="10.1093/biomet/58.3.545",
    ),
    _article(
        ("Piepho, Hans-Peter",),
        2004,
        "An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons",
        journal="Journal of Computational and Graphical Statistics",
        volume="13",
        number="2",
        pages="456-466",
        doi="10.1198/1061860043515",
    ),
    _article(
        ("Pocock, Stuart J.",),
        1977,
        "Group Sequential Methods in the Design and Analysis of Clinical Trials",
        journal="Biometrika",
        volume="64",
        number="2",
        pages="191-199",
        doi="10.1093/biomet/64.2.191",
    ),
    _article(
        ("Rao, P. V.", "Kupper, L. L."),
        1967,
        "Ties in Paired-Comparison Experiments: A Generalization of the Bradley-Terry Model",
        journal="Journal of the American Statistical Association",
        volume="62",
        number="317",
        pages="194-204",
        doi="10.1080/01621459.1967.10482901",
    ),
    _article(
        ("Romano, Joseph P.", "Wolf, Michael"),
        2005,
        "Stepwise Multiple Testing as Formalized Data Snooping",
        journal="Econometrica",
        volume="73",
        number="4",
        pages="1237-1282",
        doi="10.1111/j.1468-0262.2005.00615.x",
    ),
    _article(
        ("Satterthwaite, F. E.",),
        1946,
        "An Approximate Distribution of Estimates of Variance Components",
        journal="Biometrics Bulletin",
        volume="2",
        number="6",
        pages="110-114",
        doi="10.2307/3002019",
    ),
    _article(
        ("Schuirmann, Donald J.",),
        1987,
        "A Comparison of the Two One-Sided Tests Procedure and the Power Approach for Assessing the Equivalence "
        "of Average Bioavailability",
        journal="Journal of Pharmacokinetics and Biopharmaceutics",
        volume="15",
        number="6",
        pages="657-680",
        doi="10.1007/BF01068419",
    ),
    _article(
        ("Shrout, Patrick E.", "Fleiss, Joseph L."),
        1979,
        "Intraclass Correlations: Uses in Assessing Rater Reliability",
        journal="Psychological Bulletin",
        volume="86",
        number="2",
        pages="420-428",
        doi="10.1037/0033-2909.86.2.420",
    ),
    _article(
        ("Wang, Samuel K.", "Tsiatis, Anastasios A."),
        1987,
        "Approximately Optimal One-Parameter Boundaries for Group Sequential Trials",
        journal="Biometrics",
        volume="43",
        number="1",
        pages="193-199",
        doi="10.2307/2531959",
    ),
    _article(
        ("Welch, Bernard L.",),
        1947,
        "The Generalization of Student's Problem when Several Different Population Variances Are Involved",
        journal="Biometrika",
        volume="34",
        number="1-2",
        pages="28-35",
        doi="10.1093/biomet/34.1-2.28",
    ),
    _article(
        ("Wilcoxon, Frank",),
        1945,
        "Individual Comparisons by Ranking Methods",
        journal="Biometrics Bulletin",
        volume="1",
        number="6",
        pages="80-83",
        doi="10.2307/3001968",
    ),
    _article(
        ("Wilson, Edwin B.",),
        1927,
        "Probable Inference, the Law of Succession, and Statistical Inference",
        journal="Journal of the American Statistical Association",
        volume="22",
        number="158",
        pages="209-212",
        doi="10.1080/01621459.1927.10502953",
    ),
)
REFERENCES: Mapping[str, Reference] = {work.named: work for work in _WORKS}


def reference(named: str) -> Reference:
    """The work that a text names so: 'Holm 1979', 'Holm (1979)', 'Card et al. (2020)'.

    Raises
    ------
    InputError
        A work that the register does not have.
    """
    plain = " ".join(named.replace(",", ", ").replace("(", " ").replace(")", " ").split())
    if plain not in REFERENCES:
        raise InputError(f"There is no reference {named!r}; there are {', '.join(REFERENCES)}.")
    return REFERENCES[plain]


def citation_key(named: str) -> str:
    """The key of the BibTeX entry of a work that a text names so."""
    return reference(named).key
