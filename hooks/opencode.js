// neosian: what OpenCode tells neosian, and what neosian tells the agent. Written whole by `neosian record install`,
// taken away by `neosian record uninstall`; where neosian is not installed it does nothing.
//
// It imports nothing that has to be fetched, no hook of it throws, and none keeps OpenCode waiting longer than ANSWER.

// @NEOSIAN file pipe.js@

const { sessions } = shared; // id -> what is known of a session since OpenCode was started

export const Neosian = async ({ client, directory }) => {
  /** What every payload of a session says; a child's events are those of an agent in the session above it. */
  function base(session, name) {
    const main = top(session);
    const agent = main === session ? {} : { agent_id: session.id, agent_type: session.agent };
    return {
      hook_event_name: name,
      session_id: main.id,
      cwd: main.directory,
      prompt_id: main.prompt ?? undefined,
      ...agent,
    };
  }

  function meet(id, parent, source) {
    const session = {
      id,
      parent,
      source,
      directory,
      started: false,
      prompt: null, // id of the person's message that is being answered
      queued: new Set(), // ids of those that wait
      prompts: new Set(), // all of them
      called: new Set(), // calls that were told of, by their parts: providers give the same call id again
      ended: new Set(),
      reply: null, // the newest message of the model: id, summary, finish, texts
      error: null,
      compacted: false,
      trigger: "",
      again: null, // the start block after a compaction
    };
    sessions.set(id, session);
    return session;
  }

  /** A session of before this process: only the client knows whether it has a parent. */
  async function older(id) {
    const found = await within(2_000, client.session.get({ path: { id } }).catch(() => null));
    const parent = found?.data?.parentID;
    if (parent && !sessions.has(parent)) await older(parent);
    return sessions.get(id) ?? meet(id, parent, "resume");
  }

  async function asked(input, output) {
    const session = sessions.get(input.sessionID) ?? (await older(input.sessionID));
    const { message } = output;
    if (session.parent) {
      session.agent = message.agent ?? input.agent;
      session.prompt = message.id;
      tell("note", base(session, "SubagentStart"));
      return;
    }
    if (session.prompts.has(message.id)) return;
    session.prompts.add(message.id);
    const answers = [];
    if (!session.started) {
      session.started = true;
      answers.push(tell("start", start(session, session.source, message.model))); // of no prompt yet
    }
    if (session.prompt) session.queued.add(message.id);
    else session.prompt = message.id;
    answers.push(tell("prompt", { ...base(session, "UserPromptSubmit"), prompt: spoken(output.parts) }));
    const blocks = await within(ANSWER, Promise.all(answers));
    const text = blocks ? blocks.filter(Boolean).join("\n\n") : "";
    if (text) output.parts.push(part(output, text));
  }

  function start(session, source, model) {
    const name = model ? `${model.providerID}/${model.modelID}` : undefined;
    return { ...base(session, "SessionStart"), source, model: name };
  }

  /** After a compaction the start block is in no message any more: it goes with every request. */
  async function remind(input, output) {
    const session = sessions.get(input.sessionID);
    if (!session?.compacted || session.parent) return;
    session.again ??= tell("start", start(session, "compact"));
    const text = await within(ANSWER, session.again);
    if (text && !output.system.includes(text)) output.system.push(text); // another copy may have said it
  }

  const heard = {
    "session.created"({ info }) {
      if (sessions.has(info.id)) return;
      meet(info.id, info.parentID, /\(fork #\d+\)$/.test(info.title ?? "") ? "fork" : "startup");
    },

    "message.updated"({ info }) {
      const session = sessions.get(info.sessionID);
      if (!session || info.role !== "assistant") return;
      if (!session.reply || info.id > session.reply.id) {
        if (session.queued.has(info.parentID)) next(session, info.parentID);
        session.error = null;
        session.reply = { id: info.id, summary: info.summary === true, finish: "", texts: new Map() };
      }
      if (info.id === session.reply.id) session.reply.finish = info.finish ?? "";
    },

    "message.part.updated"({ part }) {
      const session = sessions.get(part.sessionID);
      if (!session) return;
      if (part.type === "tool") call(session, part);
      else if (part.type === "compaction") session.trigger = part.auto ? "auto" : "manual";
      else if (part.type === "text" && part.messageID === session.reply?.id && !part.synthetic)
        session.reply.texts.set(part.id, part.text ?? "");
    },

    "session.error"({ sessionID, error }) {
      const session = sessions.get(sessionID);
      if (session && error) session.error = error;
    },

    "session.compacted"({ sessionID }) {
      const session = sessions.get(sessionID);
      if (!session || session.parent || !session.reply?.summary) return;
      const { trigger } = session;
      tell("note", { ...base(session, "PreCompact"), trigger });
      tell("note", { ...base(session, "PostCompact"), trigger, text: words(session.reply) });
      session.reply = null;
      session.compacted = true;
      session.again = null;
    },

    "session.idle"({ sessionID }) {
      const session = sessions.get(sessionID);
      if (!session?.prompt) return; // it comes twice after an error
      if (session.parent) tell("note", { ...base(session, "SubagentStop"), last_assistant_message: words(session.reply) });
      else stop(session);
      session.prompt = null;
      session.error = null;
      session.reply = null;
      session.called.clear();
      session.ended.clear();
    },
  };

  function call(session, { id, tool, state }) {
    const about = { tool_name: tool, tool_input: state.input, tool_use_id: id };
    if (state.status === "running" && !session.called.has(id)) {
      session.called.add(id);
      tell("note", { ...base(session, "PreToolUse"), ...about });
    }
    const failed = state.status === "error";
    if (session.ended.has(id) || !(failed || state.status === "completed")) return;
    session.ended.add(id);
    const exit = state.metadata?.exit;
    tell("note", {
      ...base(session, "PostToolUse"),
      ...about,
      tool_output: failed ? state.error : state.output,
      ok: !failed && (typeof exit !== "number" || exit === 0),
      duration_ms: state.time?.end - state.time?.start,
      child_session_id: tool === "task" ? state.metadata?.sessionId : undefined,
    });
  }

  /** A message that waited is answered now; whether the one before was to its end, its last reply tells. */
  function next(session, prompt) {
    if (session.reply?.finish && session.reply.finish !== "tool-calls") stop(session);
    session.prompt = prompt;
    session.queued.clear();
  }

  function stop(session) {
    const { error } = session;
    const aborted = error?.name === "MessageAbortedError";
    tell("stop", {
      ...base(session, error && !aborted ? "StopFailure" : "Stop"),
      last_assistant_message: words(session.reply),
      error: error && !aborted ? `${error.name}: ${error.data?.message ?? ""}` : undefined,
      aborted: aborted || undefined,
    });
  }

  return {
    event: guarded(async ({ event }) => {
      if (Object.hasOwn(heard, event.type)) heard[event.type](event.properties);
    }),
    "chat.message": guarded(asked),
    "experimental.chat.system.transform": guarded(remind),
    "shell.env": guarded(async (input, output) => {
      const session = sessions.get(input.sessionID);
      if (session) output.env.NEOSIAN_OPENCODE_SESSION = top(session).id;
    }),
    dispose: guarded(async () => {
      for (const session of sessions.values()) {
        if (session.directory !== directory) continue;
        if (session.started) tell("end", { ...base(session, "SessionEnd"), reason: "exit" });
        sessions.delete(session.id);
      }
      await within(HANGS, shared.last); // OpenCode ends as soon as this returns
    }),
  };
};

function guarded(hook) {
  return async (...given) => {
    try {
      await hook(...given);
    } catch {
      // whatever is wrong here must not become the agent's trouble
    }
  };
}

/** The session that a child, or a child's child, works for. */
function top(session) {
  const parent = session.parent && sessions.get(session.parent);
  return parent ? top(parent) : session;
}

/** What the person typed: no file that the client read in, nothing that we put there. */
function spoken(parts) {
  return parts
    .filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
    .map((part) => part.text)
    .join("\n");
}

function words(reply) {
  return reply ? [...reply.texts.values()].filter(Boolean).join("\n\n") : "";
}

/** A part of the person's message that the model reads and nobody sees; its id puts it after the others. */
function part({ message, parts }, text) {
  const last = parts.at(-1)?.id ?? `prt_${message.id.slice("msg_".length)}`;
  return { id: `${last}n`, sessionID: message.sessionID, messageID: message.id, type: "text", text, synthetic: true };
}
