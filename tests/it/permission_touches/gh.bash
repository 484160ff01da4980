#!/bin/bash
# Reads options as GitHub's program does: what may stand in one word, what takes the next one, and
# which of them name files. It sends nothing: what it would send it prints.
show() { if [[ $1 == - ]]; then :; else printf '%s\n' "$(<"$1")"; fi; }
command=$1 sub=$2
values=" R repo "
files=" "
fields=" "
case $command in
pr | issue)
    values+="B base H head a assignee b body l label m milestone p project r reviewer t title L limit s state \
        S search q jq json template A author add-label remove-label c comment "
    case $sub in
    create | comment | edit | review | merge) files+="F body-file " ;;
    esac
    [[ $sub == create ]] && values+="T recover " ;;
release) values+="t title n notes target discussion-category " files+="F notes-file " ;;
gist) values+="d desc f filename " ;;
api)
    sub=
    values+="X method H header f raw-field q jq t template cache hostname p preview "
    files+="input " fields+="F field " ;;
*) values+="L limit q jq json t template S " ;;
esac
shift
[[ -n $sub ]] && shift
takes() { [[ "$values$files$fields" == *" $1 "* ]]; }
value() {
    case "$files" in *" $1 "*) show "$2" ;; esac
    case "$fields" in *" $1 "*) [[ $2 == *=@* ]] && show "${2#*=@}" ;; esac
}
while (($#)); do
    word=$1
    shift
    case $word in
    --) break ;;
    --*=*) name=${word%%=*} && value "${name#--}" "${word#*=}" ;;
    --*) if takes "${word#--}"; then value "${word#--}" "$1" && shift; fi ;;
    -?*)
        letters=${word#-}
        while [[ -n $letters ]]; do
            letter=${letters:0:1} letters=${letters:1}
            takes "$letter" || continue
            if [[ -n $letters ]]; then value "$letter" "${letters#=}"; else value "$letter" "$1" && shift; fi
            break
        done ;;
    *) [[ $command == gist && $sub == create ]] && show "$word" ;;
    esac
done
[[ $command == auth && $sub == token ]] && printf '%s\n' "$SERVICE_TOKEN"
exit 0
