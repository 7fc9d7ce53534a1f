/** Whether the text is a date that exists, in the year first, day first or month first order, with a year of 1880 or later. */
export function realDate(text: string): boolean {
  const numbers = (text.match(/\d+/g) ?? []).map(Number);
  const month = MONTHS.findIndex((name) => text.toLowerCase().includes(name)) + 1;
  if (month > 0) return numbers.length === 2 && exists(numbers[1] as number, month, numbers[0] as number);
  const [a = 0, b = 0, c = 0] = numbers;
  if (numbers.length !== 3) return false;
  return a > 31 ? exists(a, b, c) : exists(c, b, a) || exists(c, a, b);
}

function exists(year: number, month: number, day: number): boolean {
  const full = year < 100 ? 2000 + year : year;
  const date = new Date(Date.UTC(full, month - 1, day));
  return full >= 1880 && full < 2200 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
