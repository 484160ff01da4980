cat > /dev/null
case "$ONLOOP_AUTO_TARGET" in
rw-planner)
    echo "| TASK-01 | $ONLOOP_AUTO_ARGUMENT | pending | - |" >> .ai/PROGRESS.md
    echo "NEXT_COMMAND=rw-loop"
    ;;
rw-loop)
    sed -i.bak 's/| pending |/| completed |/' .ai/PROGRESS.md
    echo "NEXT_COMMAND=done"
    ;;
esac
