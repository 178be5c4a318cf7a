// neosian: what Pi tells neosian, and what neosian tells the agent. Written whole by `neosian record install`, taken
// away by `neosian record uninstall`; where neosian is not installed it does nothing.
//
// It imports nothing that has to be fetched, no handler of it throws, and none keeps Pi waiting longer than ANSWER.

// @NEOSIAN file pipe.js@

const { sessions } = shared; // id -> what is known of the session, and which copy of this file speaks for it

export default function (pi) {
  const me = {};

  /** Add a handler for events of the sessions that this copy speaks for. */
  function on(name, handler) {
    pi.on(name, async (event, ctx) => {
      try {
        const session = sessions.get(ctx.sessionManager.getSessionId());
        if (session?.by === me) return await handler(event, ctx, session);
      } catch {
        // whatever is wrong here must not become the agent's trouble
      }
    });
  }

  pi.on("session_start", async (event, ctx) => {
    try {
      begin(event, ctx);
    } catch {
      // as above
    }
  });

  function begin(event, ctx) {
    const id = ctx.sessionManager.getSessionId();
    const before = sessions.get(id);
    if (before?.by) return; // another copy was first
    const session = {
      id,
      by: me,
      prompt: null, // id of what is being answered
      announced: false, // whether its own message is still to come
      calls: new Map(), // the client's id of a call -> ours: providers give the same one again
      count: 0,
      reply: null, // the newest message of the model
      typed: "",
      told: Promise.resolve(""), // what the next prompt is to be told besides
      again: null, // the start block after a compaction
    };
    sessions.set(id, session);
    // After a reload the same session goes on, with all that it was told.
    if (event.reason !== "reload") session.told = tell("start", start(session, ctx, source(event, ctx)));
  }

  function base(session, ctx, name) {
    return { hook_event_name: name, session_id: session.id, cwd: ctx.cwd, prompt_id: session.prompt ?? undefined };
  }

  function start(session, ctx, from) {
    const model = ctx.model && `${ctx.model.provider}/${ctx.model.id}`;
    return { ...base(session, ctx, "SessionStart"), source: from, model };
  }

  on("input", (event, ctx, session) => {
    session.typed = event.source === "extension" ? "" : event.text;
  });

  on("before_agent_start", async (event, ctx, session) => {
    open(session, ctx);
    if (event.messageType && event.messageType !== "user") return; // an extension's own message starts this run
    session.announced = true;
    // Pi has put the text of a skill or a template in the place of its name by now.
    const text = session.typed.startsWith("/") ? session.typed : event.prompt;
    const told = session.told;
    session.told = Promise.resolve("");
    session.again = null;
    const known = tell("prompt", { ...base(session, ctx, "UserPromptSubmit"), prompt: text });
    const blocks = await within(ANSWER, Promise.all([told, known]));
    const content = blocks ? blocks.filter(Boolean).join("\n\n") : "";
    if (content) return { message: { customType: "neosian", content, display: false } };
  });

  on("message_end", (event, ctx, session) => {
    const { message } = event;
    if (message.role === "assistant") session.reply = message;
    else if (message.role !== "user") return;
    else if (session.announced) session.announced = false;
    else steered(session, ctx, texts(message.content));
  });

  /** A message that was typed during the run is given to the model now: a turn of its own. */
  function steered(session, ctx, text) {
    if (session.reply?.stopReason === "stop") stop(session, ctx);
    open(session, ctx);
    tell("note", { ...base(session, ctx, "UserPromptSubmit"), prompt: text });
  }

  on("tool_execution_start", (event, ctx, session) => {
    session.count += 1;
    session.calls.set(event.toolCallId, { id: `${session.prompt}.${session.count}`, input: event.args });
    tell("note", { ...base(session, ctx, "PreToolUse"), ...about(session, event) });
  });

  on("tool_execution_end", (event, ctx, session) => {
    tell("note", {
      ...base(session, ctx, "PostToolUse"),
      ...about(session, event),
      tool_output: texts(event.result?.content),
      ok: event.isError !== true,
      duration_ms: event.durationMs,
    });
  });

  on("session_compact", (event, ctx, session) => {
    const trigger = event.reason === "manual" ? "manual" : "auto";
    tell("note", { ...base(session, ctx, "PreCompact"), trigger });
    tell("note", { ...base(session, ctx, "PostCompact"), trigger, text: event.compactionEntry?.summary });
    session.again = session.told = tell("start", start(session, ctx, "compact"));
  });

  /** After a compaction the start block is in no message any more: until a prompt brings it, it goes with every request. */
  on("context", async ({ messages }, ctx, session) => {
    const content = session.again && (await within(ANSWER, session.again));
    if (!content) return;
    const at = messages.findLastIndex((message) => message.role === "compactionSummary") + 1;
    const block = { role: "custom", customType: "neosian", content, display: false, timestamp: Date.now() };
    return { messages: messages.toSpliced(at, 0, block) };
  });

  on("agent_settled", (event, ctx, session) => {
    stop(session, ctx, event.aborted);
    session.prompt = null;
    session.announced = false;
  });

  on("session_shutdown", async (event, ctx, session) => {
    if (event.reason !== "reload") tell("end", { ...base(session, ctx, "SessionEnd"), reason: event.reason });
    sessions.delete(session.id);
    await within(HANGS, shared.last); // Pi ends as soon as this returns
  });

  function open(session, ctx) {
    session.prompt = `p${ctx.sessionManager.getEntries().length}`; // a session's entries are never taken away
    session.calls.clear();
    session.count = 0;
    session.reply = null;
  }

  function stop(session, ctx, aborted) {
    const failed = session.reply?.stopReason === "error";
    tell("stop", {
      ...base(session, ctx, failed ? "StopFailure" : "Stop"),
      last_assistant_message: texts(session.reply?.content),
      error: failed ? (session.reply.errorMessage ?? "") : undefined,
      aborted: aborted || undefined,
    });
  }
}

function about(session, { toolCallId, toolName }) {
  const call = session.calls.get(toolCallId);
  return { tool_name: toolName, tool_input: call?.input, tool_use_id: call?.id };
}

/** `pi -c` says "startup" too. */
function source({ reason }, ctx) {
  if (reason === "resume" || reason === "fork") return reason;
  return ctx.sessionManager.getEntries().some((entry) => entry.type === "message") ? "resume" : "startup";
}

function texts(content) {
  if (typeof content === "string") return content;
  return (content ?? [])
    .filter((block) => block.type === "text")
    .map((block) => block.text)
    .join("\n");
}
