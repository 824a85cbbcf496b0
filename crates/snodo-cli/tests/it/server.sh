# A server of the initialize era over standard input and output, for the tests of the command line.
# Every line it is sent is added to the file $WIRE, if there is one.

say() { printf '%s\n' "$1"; }
result() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
refuse() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":$1}"; }
schema='{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}}}'

while IFS= read -r line; do
    if [ -n "$WIRE" ]; then printf '%s\n' "$line" >>"$WIRE"; fi
    id=${line#*\"id\":}
    id=${id%%[,\}]*}
    case $line in
    *'"method":"server/discover"'*)
        refuse '{"code":-32601,"message":"what?"}'
        ;;
    *'"method":"initialize"'*)
        version=${line#*\"protocolVersion\":\"}
        version=${version%%\"*}
        result "{\"protocolVersion\":\"$version\",\"capabilities\":{\"tools\":{\"listChanged\":true}},\"serverInfo\":{\"name\":\"shell\",\"version\":\"7\",\"x\":1}}"
        ;;
    *'"method":"notifications/initialized"'*)
        if [ -n "$TALKS" ]; then
            say '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
            say '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
        fi
        ;;
    *'"method":"ping"'*)
        result '{}'
        ;;
    *'"method":"tools/list"'*'"cursor":"c2"'*)
        result "{\"tools\":[{\"name\":\"second\",\"inputSchema\":{}}]}"
        ;;
    *'"method":"tools/list"'*)
        result "{\"tools\":[{\"name\":\"echo\",\"description\":\"red \\u001b[31m and \\u009b1m\\nmore\",\"inputSchema\":$schema,\"x\":[1]}],\"nextCursor\":\"c2\"}"
        ;;
    *'"name":"echo"'*)
        result '{ "x": 12345678901234567890123, "content": [ {"type":"text","text":"ok \u001b]0;title\u0007\u202eon\rover"} ] }'
        ;;
    *'"name":"raw"'*)
        # C1 and a change of direction as they are, and DEL.
        result "$(printf '{"content":[{"type":"text","text":"a\302\2331m\342\200\256b\177"}]}')"
        ;;
    *'"name":"fail"'*)
        result '{"content":[{"type":"text","text":"no"}],"isError":true}'
        ;;
    *'"name":"boom"'*)
        refuse '{"code":-32603,"message":"bo\u001b[1mom","data":{"why":[1, 2]}}'
        ;;
    *'"name":"form"'*)
        call=$id
        say '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"mode":"form","message":"Who are you?\u001b","requestedSchema":{"type":"object","required":["name","age"],"properties":{"name":{"type":"string","title":"Your name"},"age":{"type":"integer","minimum":18},"colour":{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}]},"sure":{"type":"boolean","default":true}}}}}'
        ;;
    *'"name":"page"'*)
        call=$id
        say '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"mode":"url","elicitationId":"e","message":"Sign in","url":"https://login.example/x?y=z"}}'
        ;;
    *'"id":"q"'*)
        id=$call
        said=${line#*\"result\":}
        said=$(printf '%s' "${said%\}}" | sed 's/"/\\"/g')
        result "{\"content\":[{\"type\":\"text\",\"text\":\"$said\"}]}"
        ;;
    *'"name":"chatty"'*)
        printf 'to the error stream \033[2J\n' >&2
        result '{"content":[]}'
        ;;
    *'"name":"mute"'*)
        echo called >&2
        ;;
    *'"name":"die"'*)
        echo 'last words' >&2
        exit 3
        ;;
    *'"method":"resources/read"'*)
        result "{\"contents\":[{\"uri\":\"a:b\",\"text\":\"$PLAIN,$HIDDEN_FROM_SERVERS\"}]}"
        ;;
    *'"id":'*)
        refuse '{"code":-32601,"message":"what?"}'
        ;;
    esac
done
