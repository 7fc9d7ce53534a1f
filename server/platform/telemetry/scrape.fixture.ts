import { serveMetrics } from './endpoint.ts';

/** What Prometheus would read of this process now: the text, and the values of its series by their spelling. */
export async function scrape(): Promise<{ text: string; value(series: string): number | undefined }> {
  const endpoint = await serveMetrics('127.0.0.1', 0);
  try {
    const answer = await fetch(`http://127.0.0.1:${endpoint.port}/metrics`);
    const text = await answer.text();
    const values = new Map(
      text
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
    );
    return { text, value: (series) => values.get(series) };
  } finally {
    await endpoint.close();
  }
}
