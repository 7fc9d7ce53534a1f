import { PriceFile } from '../server/ai/prices/price.ts';
import { aiPricesText } from '../server/platform/ai-prices-file.ts';

/**
 * Why the operator's list of prices can't be used, as a sentence with the next step; undefined when it can, or there is none. A running gateway goes on with
 * the product's prices and only logs it: costs and budgets would be other ones than the operator believes.
 */
export function pricesProblem(): string | undefined {
  try {
    const text = aiPricesText();
    if (text !== null) PriceFile.parse(JSON.parse(text));
    return undefined;
  } catch (error) {
    return `AI_PRICES_FILE can't be used: ${reasonOf(error as Reported)}. Correct the path or the file, or unset it to use the product's prices.`;
  }
}

type Reported = Error & { code?: string; issues?: readonly { path: readonly PropertyKey[]; message: string }[] };

function reasonOf({ code, message, issues, name }: Reported): string {
  const [first] = issues ?? [];
  if (first) return [first.path.map(String).join('.'), first.message].filter(Boolean).join(': ');
  if (code === 'ENOENT') return 'the file does not exist';
  return name === 'SyntaxError' ? 'the file is not JSON' : message;
}
