/** What a playbook is where nobody gave another schema: how to do again, with other inputs, what was done in a conversation. */
export const defaultPlaybookSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  additionalProperties: false,
  required: ['title', 'goal', 'inputs', 'steps', 'checks'],
  properties: {
    title: { type: 'string', minLength: 1, description: 'What it does, in a few words' },
    goal: { type: 'string', minLength: 1, description: 'What is reached when all steps are done' },
    inputs: {
      type: 'array',
      description: 'What differs from run to run; written {{name}} wherever it is used',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name', 'description'],
        properties: {
          name: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]{0,63}$' },
          description: { type: 'string', minLength: 1 },
          example: { type: 'string' },
        },
      },
    },
    steps: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['instruction'],
        dependentRequired: { tool: ['arguments'], arguments: ['tool'] },
        properties: {
          instruction: { type: 'string', minLength: 1, description: 'What to do, and why' },
          tool: { type: 'string', description: 'The tool to call; left out where none is' },
          arguments: { type: 'object', description: 'Of that call, with {{name}} for inputs' },
        },
      },
    },
    checks: {
      type: 'array',
      description: 'What must be so in the end',
      items: { type: 'string', minLength: 1 },
    },
  },
} as const;
