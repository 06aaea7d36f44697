"""The part of LUBM's ontology that its queries need: what follows from a class or a property.

The queries expect inference. Engines that only match patterns have none, so the generator also writes inferred triples:
superclasses, superproperties, the transitive subOrganizationOf, and hasAlumnus, the inverse of degreeFrom.
"""

from __future__ import annotations

UB = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

SUPERCLASSES: dict[str, tuple[str, ...]] = {
    "FullProfessor": ("Professor", "Faculty", "Employee", "Person"),
    "AssociateProfessor": ("Professor", "Faculty", "Employee", "Person"),
    "AssistantProfessor": ("Professor", "Faculty", "Employee", "Person"),
    "Lecturer": ("Faculty", "Employee", "Person"),
    "Chair": ("Professor", "Faculty", "Employee", "Person"),
    "UndergraduateStudent": ("Student", "Person"),
    "GraduateStudent": ("Student", "Person"),
    "TeachingAssistant": ("Person",),
    "ResearchAssistant": ("Student", "Person"),
    "GraduateCourse": ("Course", "Work"),
    "Course": ("Work",),
    "University": ("Organization",),
    "Department": ("Organization",),
    "ResearchGroup": ("Organization",),
    "Publication": (),
}

SUPERPROPERTIES: dict[str, tuple[str, ...]] = {
    "headOf": ("worksFor", "memberOf"),
    "worksFor": ("memberOf",),
    "undergraduateDegreeFrom": ("degreeFrom",),
    "mastersDegreeFrom": ("degreeFrom",),
    "doctoralDegreeFrom": ("degreeFrom",),
}

INVERSES = {"degreeFrom": "hasAlumnus"}
"""`memberOf` also has an inverse, `member`, which no query uses."""
