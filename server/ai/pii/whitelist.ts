import { budgetFor } from '../patterns/budget.ts';
import { ENTITY_CATALOGUE } from './entities/catalogue.ts';
import { compileRecognizers, type Recognizer } from './recognizer.ts';

/**
 * Why a whitelist would switch detectors off; undefined when it is narrow enough (interface rule 50 §7.3). It must match no sample of a built-in entity, and
 * at most one in twenty of a fixed list of texts.
 */
export function whitelistProblem(recognizer: Omit<Recognizer, 'id' | 'enabled'>): string | undefined {
  // Everything that narrows it down at a call is left aside: it's judged by its pattern.
  const compiled = compileRecognizers([{ ...recognizer, id: '', context_words: [], confidence: 1 }]);
  const matches = (text: string): boolean => compiled.some(({ find }) => find(text, 0, budgetFor(text.length)).length > 0);
  const exempt = SAMPLES.find(({ value }) => matches(value));
  if (exempt) return `would also exempt values of the built-in detector ${exempt.entity}. Make the pattern narrower`;
  const matched = WORDS.filter(matches).length;
  if (matched > (WORDS.length + SAMPLES.length) / 20)
    return 'matches arbitrary text, which would switch the built-in detectors off. Make the pattern narrower';
  return undefined;
}

const SAMPLES = ENTITY_CATALOGUE.flatMap(({ entity, example, find }) =>
  find(example, 0).map(({ start, end }) => ({ entity, value: example.slice(start, end) })),
);

/** Words, numbers, names and fragments of code, as they occur in prompts. */
const WORDS: readonly string[] = [
  ...(
    'account address agent answer apple approve archive attach balance banana basket between billing bottle branch bridge budget build button calendar camera cancel ' +
    'candle carbon castle change channel charge circle client cloud coffee column comment compare contact copper corner country create credit customer cycle daily data decide ' +
    'delete deliver design detail device dinner direct discount document double dragon driver early east editor effect energy engine enter error event example expert export ' +
    'fabric factor family field filter finish flight flower folder follow forest format garden gather gentle global golden ground group guide hammer happy harbor header health ' +
    'heavy history hotel hundred image import income index inside invoice island item january jacket journey july kernel kitchen ladder language later launch ledger letter'
  ).split(' '),
  ...['Alice', 'Bob', 'Maria', 'Wang Wei', 'O\u2019Neill', 'Zürich', 'São Paulo', '東京', 'Москва', 'New York'],
  ...['1', '42', '2024', '3.14', '12,500', '07:45', '100%', '$19.99', 'v2.3.1', '0x1f'],
  ...['foo_bar', 'getUser()', 'x = y + 1', '<div>', 'a/b/c.txt', '#tag', 'SKU-99', 'INV/2024/7', 'room 12b', '---'],
];
