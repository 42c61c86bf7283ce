// This processor has no older system calls beside those with a folder.
#pragma once

#define OLD_NUMBERS
