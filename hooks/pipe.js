import { spawn } from "node:child_process";
import { existsSync } from "node:fs";

const LINES = {
  start: "@NEOSIAN start@",
  prompt: "@NEOSIAN prompt@",
  note: "@NEOSIAN note@",
  stop: "@NEOSIAN stop@",
  end: "@NEOSIAN end@",
};

const ANSWER = 10_000; // milliseconds that the client waits for what the agent is to be told
const HANGS = 30_000; // milliseconds after which a hook is ended, and all that it started
const LONGEST = 1_000_000; // characters of an answer

// Two copies of this file, of the user and of a project, share this where they say the same lines.
const shared = (globalThis[Symbol.for(`neosian ${LINES.note}`)] ??= { last: Promise.resolve(""), sessions: new Map() });

/** Give one event to the hook line of `verb`, after those before it; resolves to what the hook prints. */
function tell(verb, payload) {
  const said = JSON.stringify(payload);
  shared.last = shared.last.then(() => run(LINES[verb], said, payload.cwd));
  return shared.last;
}

function run(line, said, cwd) {
  return new Promise((resolve) => {
    let out = "";
    let timer;
    const over = (text) => {
      clearTimeout(timer);
      resolve(text);
    };
    try {
      const child = spawn("/bin/sh", ["-c", line], {
        cwd: existsSync(cwd) ? cwd : "/",
        env: environment(),
        detached: true, // a group of its own, so that it can be ended with all that it started
        stdio: ["pipe", "pipe", "ignore"],
      });
      timer = setTimeout(() => {
        end(child.pid);
        over("");
      }, HANGS);
      child.on("error", () => over(""));
      child.on("close", (status) => over(status === 0 ? out.trim() : ""));
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (text) => {
        if (out.length < LONGEST) out += text;
      });
      child.stdin.on("error", () => {}); // where there is no launcher nobody reads
      child.stdin.end(said);
    } catch {
      over("");
    }
  });
}

/** The environment without the marks of another agent that this client was started by. */
function environment() {
  const { CLAUDE_PROJECT_DIR, CURSOR_VERSION, ...rest } = process.env;
  return rest;
}

function end(pid) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // it has ended
  }
}

/** What `promise` resolves to, or "" after `ms`. */
function within(ms, promise) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(""), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
