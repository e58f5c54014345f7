import type { FieldDefinition, StateSchema } from './schema';

type Sketch = Pick<FieldDefinition, 'name' | 'kind' | 'labels'> & Partial<FieldDefinition>;

const field = (sketch: Sketch): FieldDefinition => ({
  type: 'text',
  cardinality: 'one',
  confirm: 'stated',
  aliases: [],
  ...sketch,
});

/** What an assistant keeps that asks for no fields of its own. */
export const DEFAULT_SCHEMA: StateSchema = {
  fields: [
    field({ name: 'goal', kind: 'goal', labels: { en: 'goal', ko: '목표' } }),
    field({
      name: 'constraints',
      kind: 'constraint',
      cardinality: 'set',
      labels: { en: 'constraints', ko: '제약 조건' },
      aliases: ['constraint', '제약'],
    }),
    field({ name: 'chosen_option', kind: 'choice', labels: { en: 'chosen option', ko: '선택한 안' } }),
    field({ name: 'budget', kind: 'constraint', type: 'money', labels: { en: 'budget', ko: '예산' } }),
    field({
      name: 'deadline',
      kind: 'constraint',
      type: 'date',
      labels: { en: 'deadline', ko: '마감일' },
      aliases: ['due date', '마감', '기한', '납기'],
    }),
    field({
      name: 'preferences',
      kind: 'preference',
      cardinality: 'set',
      labels: { en: 'preferences', ko: '선호' },
      aliases: ['preference'],
    }),
    field({
      name: 'instructions',
      kind: 'instruction',
      cardinality: 'set',
      labels: { en: 'instructions', ko: '지시 사항' },
      aliases: ['instruction', '지시'],
    }),
  ],
};
