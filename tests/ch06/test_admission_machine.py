"""Random traffic under admission control, whole prompts, nothing cached."""

from __future__ import annotations

from typing import Any

from minisgl_lite.assembly import Custom
from minisgl_lite.scheduler.admission import AdmittingAdder
from tests.helpers.machines import SchedulerMachine, examples


class AdmissionMachine(SchedulerMachine):
    def custom(self, policy: Any) -> Custom:
        return Custom(adder=AdmittingAdder)


TestAdmission = AdmissionMachine.TestCase
TestAdmission.settings = examples(50)
