// The provider of `npm run bench ai`: one answer, whole or as frames that are each written by themselves.
import { createServer } from 'node:http';

const { port, frames } = JSON.parse(process.argv[2] ?? '') as { port: number; frames: number };
const head = { id: 'chatcmpl-bench', created: 1_795_196_040, model: 'bench-model', system_fingerprint: 'fp_bench' };
const usage = { prompt_tokens: 200, completion_tokens: frames, total_tokens: 200 + frames };
const message = { role: 'assistant', content: 'The quick brown fox jumps over the lazy dog. '.repeat(10) };
const whole = Buffer.from(
  JSON.stringify({ ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }),
);
const frame = (more: object) => Buffer.from(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...more })}\n\n`);
const words = frame({ choices: [{ index: 0, delta: { content: ' and' }, logprobs: null, finish_reason: null }] });
const last = Buffer.concat([
  frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
  frame({ choices: [], usage }),
  Buffer.from('data: [DONE]\n\n'),
]);

createServer((req, res) => {
  let streamed = false;
  req.on('data', (chunk: Buffer) => {
    streamed ||= chunk.includes('"stream":true') || chunk.includes('"stream": true');
  });
  req.on('end', () => {
    if (!streamed) return res.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length }).end(whole);
    res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    let sent = 0;
    const next = () => {
      if (res.destroyed) return;
      if (sent++ === frames) return void res.end(last);
      res.write(words);
      setImmediate(next);
    };
    next();
  });
}).listen(port, '127.0.0.1');
