/** Whether digits pass the Luhn check (ISO/IEC 7812-1 annex B). */
export const passesLuhn = (digits: string): boolean => luhnSum(digits) % 10 === 0;

/**
 * The one digit at `place` with which the whole passes. There is exactly one: an undoubled digit adds itself, and doubling and folding is a
 * permutation of 0 to 9.
 */
export function solveLuhn(digits: string, place: number): string {
  for (let digit = 0; digit < 10; digit++) {
    const whole = digits.slice(0, place) + digit + digits.slice(place + 1);
    if (passesLuhn(whole)) return whole;
  }
  throw new Error('no digit passes the Luhn check');
}

function luhnSum(digits: string): number {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48;
    const doubled = digit * 2;
    sum += i % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled;
  }
  return sum;
}
