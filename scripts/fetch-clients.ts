import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fail } from './command.ts';

// node scripts/fetch-clients.ts <folder>   installs Claude Code, Codex and the MCP Inspector, about 900 MB, into a folder outside of the repository;
//                                          CLIENTS_DIR=<folder> npm test server/gateway/ai/command-lines.test.ts server/gateway/mcp/inspector.test.ts
//                                          then runs them against agents and MCP servers
//
// They are programs in packages of npm, which chooses by itself those for this platform. No script of a package is run.

const CLIENTS = ['@anthropic-ai/claude-code@2.1.332', '@openai/codex@0.171.0', '@modelcontextprotocol/inspector@2.12.0'];

const [given] = process.argv.slice(2);
if (!given) fail('Name the folder to install the clients to: node scripts/fetch-clients.ts <folder>');
const target = path.resolve(given);
if (!path.relative('.', target).startsWith('..')) fail('The clients are too large for the repository. Choose a folder outside of it.');

fs.mkdirSync(target, { recursive: true });
const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--prefix', target];
execFileSync('npm', ['install', ...options, ...CLIENTS], { stdio: 'inherit' });
console.log(`${CLIENTS.join(', ')} are in ${target}`);
