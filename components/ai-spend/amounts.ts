/** Dollars as pages show them: below a cent with the digits that say something. */
export function usd(amount: number | null): string {
  if (amount === null) return 'Unpriced';
  if (amount > 0 && amount < 0.01) return `$${amount.toFixed(6).replace(/0{1,6}$/, '')}`;
  const [whole = '0', cents = '00'] = amount.toFixed(2).split('.');
  return `$${whole.replace(/\B(?=(?:\d{3})+$)/g, ',')}.${cents}`;
}
