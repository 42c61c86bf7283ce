// Calls by which a program takes from itself what the tracer needs: system calls, the clock.
#pragma once

#include "format.h"

// Why nothing could be recorded once such a call has succeeded; kNotStopped: it takes nothing, or
// only asks.
StopReason reason_of_control(int option, long value, long rules);
StopReason reason_of_seccomp(long operation, long rules);
