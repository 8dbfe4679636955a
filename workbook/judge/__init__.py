"""The judge: grades what a student wrote, in a process of its own that only ever returns values.

The modules, in the order in which one grading goes through them:

    command line     cli, options; commands (hint, solution, reset, watch), update_command, class_command
    what is graded   session (which exercises), ground (on which earlier modules they run), parts (whose bodies)
    one exercise     bench (its checks and probes, read first), checkfiles, hidden, grade (runs the checks), verdicts
    what checks use  checklib, same, asker (questions to the graded process), oracles (Hugging Face's tokens)
    the process      process (ask, under limits), job, environment, limits, values (plain JSON comes back), printed,
                     gone and place (how and where it ended), lasting (kept for texts of our own)
    inside it        child, desk (one job after the other), finder (the student's files as modules), fence, outside,
                     paths; what probes use: calls, watching, drive (a whole schedule), model (the bundled one),
                     xray (every layer)
    after a failure  autopsy (where the state first went wrong), rebinds, reach (names worth a look)
    reports          report, write, class_report
    a class          classroom, submissions, overseer (one worker each), worker, paper, memory, guard
    for authors      variants (wrong and right solutions)
"""
