import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsName, IsNested, IsReference, Optional } from '../http/rules';

export class ImportBody {
  @ApiProperty({ type: 'string', format: 'uuid' })
  @IsReference()
  readonly assistantId!: string;

  @ApiPropertyOptional({ maxLength: 500, description: 'Your own id of the person; left out, an anonymous one' })
  @Optional()
  @IsName(500)
  readonly subjectId?: string;

  @ApiProperty({ type: 'object', additionalProperties: true, description: 'As an export gives it' })
  @IsNested()
  readonly document!: object;
}
