#!/bin/sh
# Stands for the program: one line for each word that it is given.
printf '%s\n' "$@" > arguments
