// Plays a client to a plugin: calls its hooks as the client would, and prints what came of each, a JSON line a call.
//
//   node plugin_driver.mjs opencode|pi PLUGIN < CALLS
//
// A call of OpenCode's is [hook, input, output]; one of Pi's [event, ctx]. "load" loads another copy of the file,
// "wait" waits so many milliseconds, "known" tells of a session that OpenCode can be asked about.

import { createInterface } from "node:readline";

const [client, ...files] = process.argv.slice(2);
const loaded = [];
let copies = 0;

async function load() {
  const file = files[copies % files.length];
  const module = await import(`file://${file}?copy=${copies++}`);
  if (client === "opencode") {
    const directory = process.cwd();
    const session = { get: async ({ path }) => ({ data: known.find((info) => info.id === path.id) }) };
    for (const plugin of Object.values(module)) loaded.push(await plugin({ client: { session }, directory }));
  } else {
    const handlers = {};
    const pi = { on: (name, handler) => (handlers[name] ??= []).push(handler) };
    await module.default(pi);
    loaded.push(handlers);
  }
}

const known = []; // sessions that OpenCode can be asked about

async function call(given) {
  const [name, ...rest] = given;
  if (name === "load") return load();
  if (name === "wait") return new Promise((resolve) => setTimeout(resolve, rest[0]));
  if (name === "known") return void known.push(rest[0]);
  if (client === "opencode") {
    for (const hooks of loaded) await hooks[name]?.(...rest);
    return rest[1];
  }
  const [event, { id = "s1", entries = [] } = {}] = rest;
  const sessionManager = { getSessionId: () => id, getEntries: () => entries };
  const ctx = { cwd: process.cwd(), sessionManager, model: { provider: "fake", id: "one" } };
  const results = [];
  for (const handlers of loaded) for (const handler of handlers[name] ?? []) results.push(await handler(event, ctx));
  return results.filter((result) => result !== undefined);
}

await load();
for await (const line of createInterface({ input: process.stdin })) {
  const began = Date.now();
  const answer = {};
  try {
    answer.value = (await call(JSON.parse(line))) ?? null;
  } catch (error) {
    answer.threw = String(error);
  }
  console.log(JSON.stringify({ ...answer, ms: Date.now() - began }));
}
