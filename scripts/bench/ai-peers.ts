import fs from 'node:fs';
import path from 'node:path';
import { freePorts } from '../ports.ts';
import { get } from './http.ts';
import { cores, spawnOn, stopChild, until } from './machine.ts';

// Gateways of others in front of the same provider, each as one process on the measured core.

/** One of the gateways compared, and what a caller sends to it. */
export type AiGateway = {
  url: string;
  headers: Record<string, string>;
  pid: number;
  tokens?: readonly string[];
  stop: () => Promise<void>;
};

const KEY = 'sk-bench-0123456789abcdef';

/** LiteLLM's proxy: `program` is its command. */
export async function startLiteLlm(program: string, origin: string, directory: string): Promise<AiGateway> {
  const [port] = (await freePorts(1)) as [number];
  const config = path.join(directory, 'litellm.yaml');
  const model = { model_name: 'bench-model', litellm_params: { model: 'openai/bench-model', api_base: `${origin}/v1`, api_key: 'none' } };
  fs.writeFileSync(config, JSON.stringify({ model_list: [model], general_settings: { master_key: KEY } }));
  // Not our environment: it would use our database.
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    HOME: directory,
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    LITELLM_LOG: 'ERROR',
    NO_PROXY: '*',
    NODE_ENV: 'production',
  };
  const child = spawnOn(cores.measured, program, ['--config', config, '--host', '127.0.0.1', '--port', String(port)], {
    env,
    stdio: 'ignore',
  });
  const url = `http://127.0.0.1:${port}`;
  await until(
    'LiteLLM',
    () =>
      get(`${url}/health/liveliness`).then(
        ({ status }) => status === 200,
        () => false,
      ),
    180_000,
    child,
  );
  return {
    url: `${url}/v1/chat/completions`,
    headers: { Authorization: `Bearer ${KEY}` },
    pid: child.pid ?? 0,
    stop: () => stopChild(child),
  };
}

/** Portkey's gateway: `modules` is the folder that `@portkey-ai/gateway` is installed in. */
export async function startPortkey(modules: string, origin: string): Promise<AiGateway> {
  const [port] = (await freePorts(1)) as [number];
  const server = path.join(modules, '@portkey-ai/gateway/build/start-server.js');
  const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1' };
  const child = spawnOn(cores.measured, process.execPath, [server, `--port=${port}`, '--headless'], { env, stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  await until(
    'Portkey',
    () =>
      get(url).then(
        () => true,
        () => false,
      ),
    60_000,
    child,
  );
  const headers = { Authorization: `Bearer ${KEY}`, 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${origin}/v1` };
  return { url: `${url}/v1/chat/completions`, headers, pid: child.pid ?? 0, stop: () => stopChild(child) };
}
