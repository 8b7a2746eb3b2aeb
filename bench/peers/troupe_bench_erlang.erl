%% The two ends of the Erlang peer, and a replacement for epmd, the service by which nodes find each other's ports. Here
%% the near node is told the port of the far one, and no service is started or asked.
%%
%% The program that starts a node exchanges lines of text with it; see peers/erlang.cpp.
-module(troupe_bench_erlang).

-export([far/0, near/0]).
-export([start_link/0, register_node/2, register_node/3, listen_port_please/2, port_please/2, port_please/3,
         address_please/3, names/1]).

-define(FAR, 'far@127.0.0.1').
-define(ACKNOWLEDGED_EVERY, 4000).
-define(WINDOW_MAX, 20000).

%% -- both nodes

far() ->
    open(?FAR, #{}),
    register(consumer, spawn(fun() -> consume(0, 0, none) end)),
    register(echoer, spawn(fun() -> echo(0) end)),
    register(taker, spawn(fun take/0)),
    io:format("ready ~b~n", [persistent_term:get(?MODULE)]),
    wait_for_end_of_input().

near() ->
    persistent_term:put(?MODULE, list_to_integer(string:trim(io:get_line("")))),
    open('near@127.0.0.1', #{dist_listen => false}),
    true = net_kernel:connect_node(?FAR),
    io:format("ready~n"),
    drive().

open(Name, Options) ->
    {ok, _} = net_kernel:start(Name, Options#{name_domain => longnames}),
    %% From the environment, because other users can read arguments but not the environment.
    true = erlang:set_cookie(list_to_atom(os:getenv("TROUPE_BENCH_SECRET"))).

wait_for_end_of_input() ->
    case io:get_line("") of
        eof -> halt(0);
        _ -> wait_for_end_of_input()
    end.

%% Ends a node that got a message other than the expected one, because its result would mean nothing.
failed(Format, Values) ->
    io:format(standard_error, Format ++ "~n", Values),
    halt(3).

message(Number) ->
    {small, Number, Number bxor 16#5555, 42, <<"a text of 24 characters.">>}.

%% -- the far node's processes

consume(Received, Count, Producer) ->
    receive
        {small, Received, _, _, Text} when byte_size(Text) =:= 24 ->
            Now = Received + 1,
            if
                Now rem ?ACKNOWLEDGED_EVERY =:= 0; Now =:= Count -> Producer ! {acknowledged, Now};
                true -> ok
            end,
            consume(Now, Count, Producer);
        {start, NewCount, NewProducer} -> consume(0, NewCount, NewProducer);
        Other -> failed("~p came instead of message ~b", [Other, Received])
    end.

echo(Received) ->
    receive
        {{small, Received, _, _, Text} = Message, From} when byte_size(Text) =:= 24 ->
            From ! Message,
            echo(Received + 1);
        start -> echo(0);
        Other -> failed("~p came instead of message ~b", [Other, Received])
    end.

take() ->
    receive
        {<<Number:64/little, Size:64/little, Rest/binary>> = Value, From} when byte_size(Value) =:= Size ->
            MiddleSize = byte_size(Rest) - 8,
            case Rest of
                <<_:MiddleSize/binary, Number:64/little>> -> From ! {taken, Number};
                _ -> failed("a large value of ~b bytes is not what was sent", [Size])
            end,
            take();
        _ -> failed("a large value is not what was sent", [])
    end.

%% -- the near node

drive() ->
    case words_of(io:get_line("")) of
        ["one-way", Count] -> answer([one_way(list_to_integer(Count))]);
        ["echo", Count, Window] -> answer(ask(list_to_integer(Count), list_to_integer(Window)));
        ["hand-over", Count, Size] -> answer(hand_over(list_to_integer(Count), list_to_integer(Size)));
        [] -> halt(0)
    end,
    drive().

words_of(eof) -> [];
words_of(Line) -> string:lexemes(Line, " \n").

%% The times are in nanoseconds.
answer(Took) ->
    io:put_chars(["took", [[" ", integer_to_list(One)] || One <- Took], "\n"]).

now_ns() -> erlang:monotonic_time(nanosecond).

one_way(Count) ->
    Began = now_ns(),
    {consumer, ?FAR} ! {start, Count, self()},
    stream(pid_of(consumer), 0, 0, Count),
    now_ns() - Began.

%% Sending to a pid needs no look-up by name at the other end.
pid_of(Name) ->
    case get(Name) of
        undefined ->
            Pid = erpc:call(?FAR, erlang, whereis, [Name]),
            put(Name, Pid),
            Pid;
        Pid -> Pid
    end.

stream(_, _, Count, Count) -> ok;
stream(Consumer, Sent, Acknowledged, Count) when Sent < Count, Sent - Acknowledged < ?WINDOW_MAX ->
    Consumer ! message(Sent),
    stream(Consumer, Sent + 1, Acknowledged, Count);
stream(Consumer, Sent, _, Count) ->
    receive {acknowledged, Now} -> stream(Consumer, Sent, Now, Count) end.

%% The time that all took. With a window of one, the time of each question follows.
ask(Count, Window) ->
    Echoer = pid_of(echoer),
    Echoer ! start,
    Began = now_ns(),
    Each = ask(Echoer, 0, 0, Count, Window, Began, []),
    Took = now_ns() - Began,
    [Took | case Window of 1 -> Each; _ -> [] end].

ask(_, _, Count, Count, _, _, Each) -> Each;
ask(Echoer, Sent, Answered, Count, Window, SentAt, Each) when Sent < Count, Sent - Answered < Window ->
    Echoer ! {message(Sent), self()},
    ask(Echoer, Sent + 1, Answered, Count, Window, SentAt, Each);
ask(Echoer, Sent, Answered, Count, Window, SentAt, Each) ->
    receive
        {small, Answered, _, _, Text} when byte_size(Text) =:= 24 -> ok;
        Other -> failed("~p came instead of message ~b", [Other, Answered])
    end,
    Now = now_ns(),
    ask(Echoer, Sent, Answered + 1, Count, Window, Now, [Now - SentAt | Each]).

hand_over(Count, Size) ->
    Taker = pid_of(taker),
    Middle = binary:copy(<<"v">>, Size - 24),
    [hand_over_one(Taker, <<Number:64/little, Size:64/little, Middle/binary, Number:64/little>>, Number)
     || Number <- lists:seq(0, Count - 1)].

hand_over_one(Taker, Value, Number) ->
    Began = now_ns(),
    Taker ! {Value, self()},
    receive
        {taken, Number} -> now_ns() - Began;
        Other -> failed("~p came instead of the answer to ~b", [Other, Number])
    end.

%% -- in place of epmd

start_link() -> ignore.

register_node(Name, Port) -> register_node(Name, Port, inet).
register_node(_, Port, _) ->
    persistent_term:put(?MODULE, Port),
    {ok, 1}.

listen_port_please(_, _) -> {ok, 0}.

port_please(Name, Host) -> port_please(Name, Host, infinity).
port_please(_, _, _) -> {port, persistent_term:get(?MODULE), 6}.

address_please(_, _, _) -> {ok, {127, 0, 0, 1}}.

names(_) -> {error, address}.
