#!/usr/bin/env node
// Plain JavaScript on builtins only, like scripts/bootstrap.mjs: finds the packaged Node, makes what is generated, and starts main.ts where you are.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fs.realpathSync(fileURLToPath(import.meta.url))), '../..');
if (!isReady()) {
  const made = spawnSync(process.execPath, [path.join(root, 'scripts/bootstrap.mjs'), 'command-table'], { stdio: ['ignore', 2, 2] });
  if (made.status !== 0) process.exit(made.status ?? 1);
}
const packaged = path.join(root, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
const main = path.join(root, 'sdk/cli/main.ts');
if (Number(process.versions.node.split('.')[0]) >= 24) await import(main);
else
  become(fs.existsSync(packaged) ? packaged : process.execPath, ['--disable-warning=ExperimentalWarning', main, ...process.argv.slice(2)]);

/** The packages are those of the lockfile, and the table of operations was made from this document. */
function isReady() {
  const read = (file) => fs.readFileSync(path.join(root, file));
  try {
    const installed = createHash('sha256').update(read('package-lock.json')).digest('hex');
    if (!read('node_modules/.installed-for').toString().startsWith(installed)) return false;
    const document = createHash('sha256').update(read('public/openapi.json')).digest('hex');
    return read('sdk/generated/.document').toString() === document;
  } catch {
    return false;
  }
}

/** Ends as the command ends. A terminal's Ctrl-C reaches it by itself. */
function become(command, args) {
  const child = spawn(command, args, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => (signal === 'SIGINT' && process.stdin.isTTY ? undefined : child.kill(signal)));
  child.on('error', (error) => {
    console.error(`${command} could not be started: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
