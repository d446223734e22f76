import java.util.TreeSet;
import org.apache.calcite.sql.SqlFunction;
import org.apache.calcite.sql.SqlOperator;
import org.apache.flink.table.functions.BuiltInFunctionDefinition;
import org.apache.flink.table.functions.BuiltInFunctionDefinitions;
import org.apache.flink.table.functions.FunctionDefinition;
import org.apache.flink.table.planner.functions.sql.FlinkSqlOperatorTable;

/** Every name that a Flink's SQL can call: those of its operator table and of its definitions. */
public class FlinkFunctions {
  public static void main(String[] args) {
    TreeSet<String> names = new TreeSet<>();
    for (SqlOperator operator : FlinkSqlOperatorTable.instance(false).getOperatorList()) {
      if (operator instanceof SqlFunction) {
        names.add(operator.getName());
      }
    }
    for (FunctionDefinition found : BuiltInFunctionDefinitions.getDefinitions()) {
      if (found instanceof BuiltInFunctionDefinition built && !built.isInternal()) {
        if (built.hasRuntimeImplementation()) {
          names.add(built.getSqlName());
        }
      }
    }
    names.stream().filter(name -> name.matches("[A-Z][A-Z0-9_]*")).forEach(System.out::println);
  }
}
