import type { z } from 'zod';
import type { Analytics } from '#server/domain/request-logs/analytics/schema.ts';
import { seriesText } from './words.ts';

/** A cell that a spreadsheet takes for text and not for a formula. */
const cell = (text: string): string => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;

/** The series as a table: a row for each time, a column for each series. */
export function csvOf({ series }: Pick<z.output<typeof Analytics>, 'series'>): string {
  const times = series[0]?.points.map(([at]) => at) ?? [];
  const head = ['time', ...series.map(({ key }) => cell(seriesText(key)))];
  return [head.join(','), ...times.map((at, i) => [at, ...series.map(({ points }) => points[i]?.[1] ?? '')].join(','))]
    .join('\r\n')
    .concat('\r\n');
}

export function saveCsv(answer: z.output<typeof Analytics>): void {
  save(new Blob([csvOf(answer)], { type: 'text/csv' }), `${answer.metric}.csv`);
}

/** The chart as it is drawn, in the colours of the theme. */
export async function savePicture(holder: HTMLElement | null, name: string): Promise<void> {
  const chart = holder?.querySelector('svg[viewBox]');
  if (!chart) return;
  const box = chart.getBoundingClientRect();
  const copy = chart.cloneNode(true) as SVGSVGElement;
  const style = getComputedStyle(document.documentElement);
  // A picture has no stylesheet: colours are written out.
  const text = new XMLSerializer()
    .serializeToString(copy)
    .replace(/var\((--[a-z0-9-]+)\)/g, (_, variable: string) => style.getPropertyValue(variable).trim());
  const picture = new Image();
  picture.src = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
  await picture.decode();
  const canvas = Object.assign(document.createElement('canvas'), { width: box.width * 2, height: box.height * 2 });
  const drawing = canvas.getContext('2d');
  if (!drawing) return;
  drawing.fillStyle = getComputedStyle(document.body).backgroundColor;
  drawing.fillRect(0, 0, canvas.width, canvas.height);
  drawing.drawImage(picture, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(picture.src);
  canvas.toBlob((blob) => blob && save(blob, `${name}.png`), 'image/png');
}

function save(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
