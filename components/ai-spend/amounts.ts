/** Dollars as pages show them: below a cent with the digits that say something. */
export function usd(amount: number | null): string {
  if (amount === null) return 'Unpriced';
  if (amount > 0 && amount < 0.01) return Number(amount.toFixed(6)) === 0 ? '<$0.000001' : usdRate(amount);
  return dollars(amount.toFixed(2));
}

/** A rate in dollars with all its digits, cents in full: $10, $0.50, $0.075. */
export function usdRate(rate: number): string {
  const [whole = '0', fraction = ''] = rate.toFixed(6).replace(/0+$/, '').split('.');
  return dollars(fraction ? `${whole}.${fraction.padEnd(2, '0')}` : whole);
}

const dollars = (text: string): string => `$${text.replace(/\B(?<!\.\d*)(?=(?:\d{3})+(?!\d))/g, ',')}`;
