/** Whether the text is bech32 or bech32m (BIP 173, BIP 350) with a correct checksum. */
export function isBech32Checked(text: string): boolean {
  const lower = text.toLowerCase();
  const mark = lower.lastIndexOf('1');
  if (mark < 1 || mark + 7 > lower.length || (text !== lower && text !== text.toUpperCase())) return false;
  const prefix = [...lower.slice(0, mark)].map((character) => character.charCodeAt(0));
  const data = [...lower.slice(mark + 1)].map((character) => CHARSET.indexOf(character));
  if (data.includes(-1)) return false;
  const sum = polymod([...prefix.map((code) => code >> 5), 0, ...prefix.map((code) => code & 31), ...data]);
  return sum === 1 || sum === 0x2bc830a3;
}

function polymod(values: readonly number[]): number {
  let sum = 1;
  for (const value of values) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (let i = 0; i < 5; i++) if ((top >> i) & 1) sum ^= GENERATOR[i] as number;
  }
  return sum >>> 0;
}

const CHARSET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
